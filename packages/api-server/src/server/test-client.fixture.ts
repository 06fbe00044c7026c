import { type EventEmitter, once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { request as plainRequest } from 'node:http';
import { connect } from 'node:http2';
import { request as secureRequest } from 'node:https';
import type { Readable } from 'node:stream';
import type { TestServer } from './test-server.fixture.ts';

type Endpoint = Pick<TestServer, 'socketPath' | 'port' | 'certificate'>;

/** The transports over which tests connect to a test server. */
export const WAYS = ['the unix socket', 'HTTP/1.1 over TLS', 'HTTP/2 over TLS'] as const;

export type Way = (typeof WAYS)[number];

export type Call = {
  method?: string;
  path: string;
  user?: string;
  headers?: OutgoingHttpHeaders;
  body?: string | Buffer;
};

export type OpenAnswer = { status: number; headers: IncomingHttpHeaders; body: Readable; close: () => void };

/** Sends a request over a dedicated connection, which stays open until `close` is called. Over TLS, the user is `root` by default. */
export async function open(server: Endpoint, way: Way, call: Call): Promise<OpenAnswer> {
  const { method = 'GET', path, user = 'root', body } = call;
  const token = way === 'the unix socket' || user === '' ? {} : { authorization: `Bearer token-${user}` };
  const headers = { ...token, ...call.headers };
  if (way === 'HTTP/2 over TLS') {
    const session = connect(`https://127.0.0.1:${server.port}`, { ca: server.certificate });
    session.on('error', () => undefined);
    const stream = session.request({ ...headers, ':method': method, ':path': path }, { endStream: body === undefined });
    stream.on('error', () => undefined);
    if (body !== undefined) stream.end(body);
    const [received] = (await responseOf(stream)) as [IncomingHttpHeaders & { ':status': number }];
    return { status: received[':status'], headers: received, body: stream, close: () => session.destroy() };
  }
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }; // not set by node:http for DELETE
  const options = { method, path, headers: { ...length, ...headers }, agent: false } as const;
  const sent =
    way === 'the unix socket'
      ? plainRequest({ ...options, socketPath: server.socketPath })
      : secureRequest({ ...options, host: '127.0.0.1', port: server.port, ca: server.certificate });
  sent.on('error', () => undefined).end(body);
  const [received] = (await responseOf(sent)) as [IncomingMessage];
  return { status: received.statusCode!, headers: received.headers, body: received, close: () => sent.destroy() };
}

/** Returns the response to a request. Rejects if the server closes the connection without a response. */
async function responseOf(request: EventEmitter): Promise<unknown[]> {
  const closed = new AbortController();
  request.once('close', () => closed.abort());
  return once(request, 'response', { signal: closed.signal });
}

export type Answer = { status: number; headers: IncomingHttpHeaders; text: string; json: () => Json };

// biome-ignore lint/suspicious/noExplicitAny: tests read responses of any kind
export type Json = any;

/** Sends a request and reads the whole response. */
export async function send(server: Endpoint, way: Way, call: Call): Promise<Answer> {
  const { status, headers, body, close } = await open(server, way, call);
  const text = Buffer.concat(await body.toArray()).toString();
  close();
  return { status, headers, text, json: () => JSON.parse(text) };
}

export async function* eventsOf(body: Readable): AsyncGenerator<Json> {
  let rest = '';
  for await (const chunk of body) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop()!;
    for (const line of lines) yield JSON.parse(line);
  }
}
