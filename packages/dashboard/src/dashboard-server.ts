import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { errorMessage, type Logger, PodwrightError } from '@podwright/base';
import { WaitingClients } from '@podwright/streaming';
import { credentialsOf, setCookie } from './access/credentials.ts';
import { Links } from './access/links.ts';
import { requestProblem } from './access/request-guard.ts';
import { type Session, Sessions } from './access/sessions.ts';
import { NodeUsageReader } from './dashboard-paths/node-usage.ts';
import { bodyFields, type DashboardCall, dashboardPaths } from './dashboard-paths.ts';
import type { PageFiles } from './files/page-files.ts';
import { serveFile } from './files/serve-file.ts';
import { HEAD_TIMEOUT_MS, MAX_CONNECTIONS, MAX_HEAD_BYTES, MAX_HEADERS, REQUEST_TIMEOUT_MS } from './limits.ts';
import { refusal, sendError, sendJson, statusOf } from './status-answer.ts';
import type { ApiServer } from './upstream/api-server.ts';
import { forwardRequest } from './upstream/forward-request.ts';
import { forwardUpgrade } from './upstream/forward-upgrade.ts';
import { forwardingProblem, isForwarded, splitTarget } from './upstream/forwarded-path.ts';
import { JsonCalls } from './upstream/json-calls.ts';
import { serveStream } from './upstream/stream-socket.ts';

export type DashboardServerOptions = {
  /** Requests are forwarded to this server using its credentials. The dashboard has no other permissions. */
  api: ApiServer;
  page: PageFiles;
  /** The namespace that the page shows first. */
  namespace?: string;
  /** The IP address and port to listen on. Port 0 selects a free port. */
  listen: { host: string; port: number };
  logger: Logger;
};

type Exchange = { request: IncomingMessage; response: ServerResponse };
type Upgrade = { request: IncomingMessage; socket: Duplex; head: Buffer };

/** Serves the page and forwards its requests to an API server. The contract with the page is in README.md. */
export class DashboardServer {
  readonly #options: DashboardServerOptions;
  readonly #links = new Links();
  readonly #sessions = new Sessions();
  /** Connections without a session. Other users of the host can open them, and must not lock out clients that have one. */
  readonly #strangers = new WaitingClients(REQUEST_TIMEOUT_MS);
  readonly #usage: NodeUsageReader;
  readonly #dashboardPaths: Record<string, (call: DashboardCall) => Promise<unknown>>;
  readonly #server: Server;
  #port = 0;

  constructor(options: DashboardServerOptions) {
    const { api, namespace, logger } = options;
    this.#options = options;
    const calls = new JsonCalls(api);
    this.#usage = new NodeUsageReader(api, calls, logger);
    this.#dashboardPaths = dashboardPaths({ api, calls, usage: this.#usage, namespace });
    const limits = {
      maxHeaderSize: MAX_HEAD_BYTES,
      headersTimeout: HEAD_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
    };
    this.#server = createServer(limits, (request, response) => void this.#answer({ request, response }));
    this.#server.maxConnections = MAX_CONNECTIONS;
    this.#server.maxHeadersCount = MAX_HEADERS;
    this.#server.on('connection', (socket) => this.#strangers.add(socket));
    this.#server.on('upgrade', (request, socket, head) => void this.#upgrade({ request, socket, head }));
  }

  /** Starts listening. Rejects with `unavailable` if this fails, for example because the address is in use. */
  async listen(): Promise<void> {
    const { host, port } = this.#options.listen;
    this.#server.listen({ host, port });
    try {
      await once(this.#server, 'listening');
    } catch (error) {
      throw new PodwrightError('unavailable', `listen on ${host}, port ${port}: ${errorMessage(error)}`);
    }
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Returns a link that can start one session. The token is in the fragment, which browsers do not send to servers. */
  link(): string {
    return `http://${urlHost(this.#options.listen.host)}:${this.#port}/#token=${this.#links.issue(Date.now())}`;
  }

  /** Ends all sessions and connections. */
  async close(): Promise<void> {
    this.#sessions.endAll();
    this.#usage.stop();
    this.#strangers.close();
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#options.api.close();
  }

  async #answer(exchange: Exchange): Promise<void> {
    const { request, response } = exchange;
    const [path] = splitTarget(request.url ?? '/');
    try {
      const problem = requestProblem(request, this.#options.listen.host);
      if (problem !== undefined) throw refusal(problem);
      const file = this.#options.page.get(path);
      if (file !== undefined && (request.method === 'GET' || request.method === 'HEAD'))
        return serveFile(exchange, path, file);
      if (path === '/dashboard/login' && request.method === 'POST') return await this.#logIn(exchange);
      await this.#serve(exchange, path);
    } catch (error) {
      this.#logFailure(error, path);
      sendError(response, error);
    }
  }

  async #logIn({ request, response }: Exchange): Promise<void> {
    const { token } = await bodyFields(request);
    if (typeof token !== 'string' || !this.#links.redeem(token, Date.now()))
      throw new PodwrightError(
        'unauthenticated',
        'the link is not valid, was used before, or has expired: press Enter in the terminal of the command for a new one',
      );
    const { cookie, key } = this.#sessions.begin(Date.now());
    sendJson(response, { key }, { headers: { 'set-cookie': setCookie(this.#port, cookie) } });
  }

  async #serve(exchange: Exchange, path: string): Promise<void> {
    const { request, response } = exchange;
    const method = request.method ?? '';
    const session = this.#sessionOf(request);
    if (path === '/dashboard/logout' && method === 'POST') return this.#logOut(exchange);
    const finish = session.begin('request') ?? tooMany();
    const closed = new AbortController();
    response.once('close', () => {
      finish();
      closed.abort();
    });
    const signal = AbortSignal.any([closed.signal, session.ended]);
    const answer = this.#dashboardPaths[`${method} ${path}`];
    if (answer !== undefined) {
      const query = new URLSearchParams(splitTarget(request.url ?? '')[1]);
      return sendJson(response, await answer({ request, query, signal }));
    }
    if (!isForwarded(path)) throw new PodwrightError('not_found', `${method} ${path}: no such path`);
    const problem = forwardingProblem({ method, target: request.url ?? '', stream: false });
    if (problem !== undefined) throw refusal(problem);
    await forwardRequest(this.#options.api, exchange, signal);
  }

  #logOut({ request, response }: Exchange): void {
    this.#sessions.end(credentialsOf(request, this.#port));
    sendJson(response, {}, { headers: { 'set-cookie': setCookie(this.#port, '') } });
  }

  #sessionOf(request: IncomingMessage): Session {
    const session = this.#sessions.find(credentialsOf(request, this.#port), Date.now());
    if (session !== undefined) {
      this.#strangers.admit(request.socket);
      return session;
    }
    throw new PodwrightError('unauthenticated', 'the request has no session: open a link that the command prints');
  }

  async #upgrade(client: Upgrade): Promise<void> {
    const { request, socket } = client;
    socket.on('error', () => socket.destroy());
    const target = request.url ?? '';
    const [path] = splitTarget(target);
    try {
      const problem = requestProblem(request, this.#options.listen.host);
      if (problem !== undefined) throw refusal(problem);
      const session = this.#sessionOf(request);
      const finish = session.begin('socket') ?? tooMany();
      const closed = new AbortController();
      socket.once('close', () => {
        finish();
        closed.abort();
      });
      const signal = AbortSignal.any([closed.signal, session.ended]);
      if (path === '/dashboard/stream') return await serveStream(this.#options.api, client, signal);
      const refused = forwardingProblem({ method: 'GET', target, stream: true });
      if (refused !== undefined) throw refusal(refused);
      await forwardUpgrade(this.#options.api, client, signal);
    } catch (error) {
      this.#logFailure(error, path);
      refuseUpgrade(socket, error);
    }
  }

  #logFailure(error: unknown, path: string): void {
    this.#options.logger.debug({ path, error: errorMessage(error) }, 'request failed or was refused');
  }
}

/** Returns the host to use in URLs of a server listening on this address. For wildcard addresses, this is loopback. */
function urlHost(address: string): string {
  if (address === '0.0.0.0') return '127.0.0.1';
  if (address === '::') return '[::1]';
  return address.includes(':') ? `[${address}]` : address;
}

function tooMany(): never {
  throw new PodwrightError('resource_exhausted', 'the session has too many concurrent requests');
}

function refuseUpgrade(socket: Duplex, error: unknown): void {
  const status = statusOf(error);
  const body = JSON.stringify(status);
  const head = [`HTTP/1.1 ${status.code} ${status.reason}`, 'Connection: close', 'Content-Type: application/json'];
  socket.end(`${head.join('\r\n')}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  socket.resume();
}
