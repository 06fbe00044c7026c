import { Agent, type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps, Agent as TlsAgent } from 'node:https';
import type { ConnectionOptions } from 'node:tls';
import { nodeLookups } from '@podwright/base';
import { CONNECT_TIMEOUT_MS, HTTP1_CONNECTIONS, PING_AFTER_MS } from '../limits.ts';
import { connectionError, lostConnection } from './connection-error.ts';
import type { HttpAnswer, HttpRequest, ServerAddress } from './http-exchange.ts';

/** Maximum number of connections for calls and for watches, which are limited separately. Excess requests wait. */
export type MostConnections = { calls: number; watches: number };
/** Connections to a server without TLS or without HTTP/2. */
export class Http1Connections {
  readonly #address: ServerAddress;
  readonly #origin: string;
  readonly #calls: Agent;
  readonly #watches: Agent;

  constructor(
    address: ServerAddress,
    { host: _checkedName, ...tls }: ConnectionOptions,
    most: MostConnections = HTTP1_CONNECTIONS,
  ) {
    this.#address = address;
    this.#origin = `${address.protocol}//${address.host}:${address.port}`;
    const open = (maxSockets: number) => {
      const options = { lookup: nodeLookups.lookup, keepAlive: true, keepAliveMsecs: PING_AFTER_MS, maxSockets };
      return address.protocol === 'https:' ? new TlsAgent({ ...options, ...tls }) : new Agent(options);
    };
    this.#calls = open(most.calls);
    this.#watches = open(most.watches);
  }

  /**
   * Sends a request and returns the response. Rejects with `unavailable` or with the signal's abort reason. If the signal aborts later, the
   * response body is also aborted.
   */
  send({ method, path, headers, body, isLong }: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>();
    const { protocol, host, port } = this.#address;
    const hostname = host.replace(/^\[|\]$/g, '');
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const agent = isLong ? this.#watches : this.#calls;
    const options = { method, path, hostname, port, agent, headers: { ...headers, ...length } };
    const request = protocol === 'https:' ? requestHttps(options) : requestHttp(options);
    const stop = () => request.destroy();
    signal.addEventListener('abort', stop, { once: true });
    request.on('error', (error) => reject(signal.aborted ? signal.reason : connectionError(error, this.#origin)));
    request.once('response', (message) => resolve(answerOf(message)));
    request.once('close', () => {
      signal.removeEventListener('abort', stop);
      reject(signal.aborted ? signal.reason : lostConnection(this.#origin));
    });
    this.#boundConnecting(request);
    request.end(body);
    return promise;
  }

  destroy(): void {
    this.#calls.destroy();
    this.#watches.destroy();
  }

  #boundConnecting(request: ClientRequest): void {
    request.once('socket', (socket) => {
      if (!socket.connecting) return;
      const late = Object.assign(new Error('connect: no response'), { code: 'ETIMEDOUT' });
      const timer = setTimeout(() => request.destroy(late), CONNECT_TIMEOUT_MS);
      socket.once(this.#address.protocol === 'https:' ? 'secureConnect' : 'connect', () => clearTimeout(timer));
      request.once('close', () => clearTimeout(timer));
    });
  }
}

function answerOf(message: IncomingMessage): HttpAnswer {
  message.on('error', () => undefined); // the body's reader receives the error
  return {
    status: message.statusCode ?? 0,
    header: (name) => message.headers[name]?.toString(),
    body: message,
    isWhole: () => message.complete,
  };
}
