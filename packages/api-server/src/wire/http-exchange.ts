import type { EventEmitter } from 'node:events';
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { Duplex, Readable } from 'node:stream';

/** The parts of node:http's and node:http2's requests that the API server uses. */
export type HttpRequest = Readable & {
  readonly method?: string;
  /** The path and query as sent. */
  readonly url?: string;
  readonly headers: IncomingHttpHeaders;
  /** The names and values of all header fields in turn. */
  readonly rawHeaders: string[];
  readonly httpVersionMajor: number;
};

type Corked = { cork(): void; uncork(): void };

/** The parts of node:http's and node:http2's responses that the API server uses. */
export type HttpResponse = EventEmitter & {
  readonly headersSent: boolean;
  readonly writableEnded: boolean;
  readonly writableNeedDrain: boolean;
  /** HTTP/1: the connection. */
  readonly socket: Corked | null;
  /** HTTP/2: the stream. */
  readonly stream?: Corked;
  setHeader(name: string, value: string | string[]): unknown;
  writeHead(status: number, headers: OutgoingHttpHeaders): unknown;
  flushHeaders(): void;
  write(chunk: Uint8Array): boolean;
  end(chunk?: Uint8Array): unknown;
  destroy(error?: Error): unknown;
};

/** A request and its response. */
export type HttpExchange = {
  request: HttpRequest;
  response: HttpResponse;
  /** The parameters of the URL's query. */
  query: URLSearchParams;
  /** Aborts when the client disconnects or the request's time has expired. */
  signal: AbortSignal;
  /**
   * Set if the client requests another protocol, such as WebSocket, and the path has some. Takes the connection, and the bytes that the
   * client has already sent in the new protocol. The response must not be used afterwards.
   */
  upgrade?: () => { socket: Duplex; head: Buffer };
};

/** A request header's value; '' if the request lacks it. */
export function headerOf({ headers }: Pick<HttpRequest, 'headers'>, name: string): string {
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : (value ?? '');
}
