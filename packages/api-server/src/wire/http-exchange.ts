import type { EventEmitter } from 'node:events';
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { Duplex, Readable } from 'node:stream';

/** The subset of node:http and node:http2 requests that the API server uses. */
export type HttpRequest = Readable & {
  readonly method?: string;
  /** The request's path and query, as sent by the client. */
  readonly url?: string;
  readonly headers: IncomingHttpHeaders;
  /** The request's header names and values, alternating. */
  readonly rawHeaders: string[];
  readonly httpVersionMajor: number;
};

type Corked = { cork(): void; uncork(): void };

/** The subset of node:http and node:http2 responses that the API server uses. */
export type HttpResponse = EventEmitter & {
  readonly headersSent: boolean;
  readonly statusCode: number;
  readonly writableEnded: boolean;
  readonly writableNeedDrain: boolean;
  /** The response's connection, used only for HTTP/1. */
  readonly socket: Corked | null;
  /** The response's stream, set only for HTTP/2. */
  readonly stream?: Corked;
  setHeader(name: string, value: string | string[]): unknown;
  writeHead(status: number, headers: OutgoingHttpHeaders): unknown;
  flushHeaders(): void;
  write(chunk: Uint8Array): boolean;
  end(chunk?: Uint8Array): unknown;
  destroy(error?: Error): unknown;
};

/** The object in the request body and the object in the response body. Unset for bodies that are not single objects. */
export type ObservedBodies = {
  request?: object;
  response?: object;
  /**
   * Audit event annotations added by admission. `level`: the lowest audit level at which the annotation is recorded. Default: `Metadata`.
   */
  annotations?: Map<string, { value: string; level: 'Request' | undefined }>;
};

/** Tracks a request's body, so that the server can limit the total size of all request bodies. */
export type LargeBody = {
  /** Aborts with a 429 if the server drops the body because the total size of all request bodies exceeds the limit. */
  refused: AbortSignal;
  /** Updates the number of bytes of the body held in memory. Throws 429 if the total size of all request bodies exceeds the limit. */
  received(bytes: number): void;
  /**
   * Waits until it is this body's turn to be processed. Rejects with 429 if the server has dropped the body, or with the signal's reason.
   */
  turn(signal?: AbortSignal): Promise<void>;
  /**
   * Waits for a turn to process a stored object of this size, which is treated like a request body of the same size. Returns immediately if
   * the request's body has already had its turn.
   */
  turnFor(objectBytes: number, signal?: AbortSignal): Promise<void>;
};

/** A request and its response. */
export type HttpExchange = {
  request: HttpRequest;
  response: HttpResponse;
  /** The URL's query parameters. */
  query: URLSearchParams;
  /** Aborts when the client disconnects or the request times out. */
  signal: AbortSignal;
  /** The request's ID in the audit log. Unset for in-process callers. */
  auditId?: string;
  /**
   * Set if the client requests an upgrade to another protocol (e.g. WebSocket) and the path supports one. Hands over the connection and any
   * bytes the client has already sent in the new protocol. The response must not be used afterwards.
   */
  upgrade?: () => { socket: Duplex; head: Buffer };
  /** When the request was authorized (`performance.now`). Unset if it needs no authorization. */
  authorizedMs?: number;
  /** Limits the memory used by the body, and the time to process it, if the body is large. */
  largeBody?: LargeBody;
  /** Records the objects in the request and response bodies. Unset if no one needs them. */
  bodies?: ObservedBodies;
  /** The response is sent only after this resolves, so that clients never read state that a power failure could undo. */
  untilDurable?: () => Promise<void> | undefined;
  /** Whether the URL's objects are of a custom kind, which cannot be encoded as protobuf. */
  isCustom?: boolean;
  /** Set for in-process callers, who pass the body as a value instead of sending it. `body` is undefined if there is none. */
  value?: { body: unknown };
};

/** Returns the value of a request header, or '' if it is absent. */
export function headerOf({ headers }: Pick<HttpRequest, 'headers'>, name: string): string {
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : (value ?? '');
}
