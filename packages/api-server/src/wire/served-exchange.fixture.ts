import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';
import { connect, createServer as createServer2 } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import type { HttpExchange, HttpRequest, HttpResponse } from './http-exchange.ts';

export const PROTOCOLS = ['HTTP/1.1', 'HTTP/2'] as const;

export type Protocol = (typeof PROTOCOLS)[number];

export type SentRequest = { method?: string; path?: string; headers?: OutgoingHttpHeaders };

/** A response whose headers have arrived. `close` ends the client's connection. */
export type OpenResponse = { status: number; headers: IncomingHttpHeaders; body: Readable; close: () => void };

/** A server for one test. `send` opens a connection for each request. */
export type ServedExchange = AsyncDisposable & {
  port: number;
  open: (sent: SentRequest, body?: Uint8Array | string) => Promise<OpenResponse>;
  send: (
    sent: SentRequest,
    body?: Uint8Array | string,
  ) => Promise<{ status: number; headers: IncomingHttpHeaders; body: Buffer }>;
};

/** Starts a server on plain TCP that passes each request to the handler. */
export async function serveExchanges(
  protocol: Protocol,
  handle: (exchange: HttpExchange) => Promise<void>,
): Promise<ServedExchange> {
  const listener = (given: HttpRequest, sent: object) => {
    const response = sent as HttpResponse; // the types of node:http2 lack flushHeaders
    const over = new AbortController();
    response.once('close', () => over.abort(new Error('the client disconnected')));
    response.on('error', () => undefined);
    const query = new URL(given.url!, 'http://api').searchParams;
    void handle({ request: given, response, query, signal: over.signal });
  };
  const server = protocol === 'HTTP/2' ? createServer2(listener) : createServer(listener);
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => undefined)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const open = (sent: SentRequest, body?: Uint8Array | string) =>
    protocol === 'HTTP/2' ? open2(port, sent, body) : open1(port, sent, body);
  return {
    port,
    open,
    send: async (sent, body) => {
      const { status, headers, body: read, close } = await open(sent, body);
      const chunks: Buffer[] = await read.toArray();
      close();
      return { status, headers, body: Buffer.concat(chunks) };
    },
    [Symbol.asyncDispose]: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

async function open1(port: number, sent: SentRequest, body?: Uint8Array | string): Promise<OpenResponse> {
  const { method = 'GET', path = '/', headers = {} } = sent;
  const client = request({ port, host: '127.0.0.1', method, path, headers, agent: false });
  writeBody(client, body);
  const [response] = await once(client, 'response');
  return { status: response.statusCode, headers: response.headers, body: response, close: () => client.destroy() };
}

async function open2(port: number, sent: SentRequest, body?: Uint8Array | string): Promise<OpenResponse> {
  const { method = 'GET', path = '/', headers = {} } = sent;
  const session = connect(`http://127.0.0.1:${port}`);
  session.on('error', () => undefined);
  const stream = session.request({ ...headers, ':method': method, ':path': path }, { endStream: body === undefined });
  if (body !== undefined) writeBody(stream, body);
  const [received] = (await once(stream, 'response')) as [IncomingHttpHeaders & { ':status': number }];
  return { status: received[':status'], headers: received, body: stream, close: () => session.destroy() };
}

/** Sends a request body. Ignores write errors, because a server may respond and close the stream before it has read the whole body. */
function writeBody(stream: Writable, body: Uint8Array | string | undefined): void {
  stream.on('error', () => undefined);
  stream.end(body);
}
