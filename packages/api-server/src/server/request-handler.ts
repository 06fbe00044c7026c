import { randomUUID } from 'node:crypto';
import { ApiError, internalError, unauthorized } from '@podwright/api-machinery';
import { errorMessage, raceAbort } from '@podwright/base';
import { MASTERS, type UserInfo } from '@podwright/kube-kinds';
import { ANONYMOUS, UNAUTHENTICATED } from '../authorization/known-users.ts';
import { type HttpExchange, type HttpRequest, headerOf } from '../wire/http-exchange.ts';
import { ResponseWriter } from '../wire/response-writer.ts';
import { Warnings } from '../wire/warnings.ts';
import { admitRequest } from './admit-request.ts';
import { attributesOf, authorize } from './authorize-request.ts';
import { LargeBodies } from './large-bodies.ts';
import { isLongRunning, type RequestInfo, requestInfo } from './request-info.ts';
import { RequestLifetime, timeLimitMs } from './request-lifetime.ts';
import { type ObservedRequest, RequestObservers } from './request-observer.ts';
import { parseRequestUrl, type RequestUrl } from './request-url.ts';
import { respond } from './respond.ts';
import type { ClientConnection, ServerParts } from './server-parts.ts';

const LOCAL_ADMIN: UserInfo = { username: 'system:admin', groups: [MASTERS, 'system:authenticated'] };
const ANONYMOUS_USER: UserInfo = { username: ANONYMOUS, groups: [UNAUTHENTICATED] };

/** An HTTP request and its response, before the request's URL is parsed. */
export type HttpCall = Pick<HttpExchange, 'request' | 'response' | 'upgrade'>;

/** The request handler as seen by the listeners. `stop` resolves once all calls have been answered. */
export type CallHandler = Pick<RequestHandler, 'handle' | 'stop'>;

type Handled = {
  connection: ClientConnection;
  lifetime: RequestLifetime;
  observed: ObservedRequest;
  /** Warnings to send with the response, even if the request fails. */
  warnings: Warnings;
};

/** The error that ends watches on shutdown. */
const STOPPING = new ApiError(503, 'ServiceUnavailable', { message: 'the server is shutting down' });

/**
 * Handles requests: authenticates the user, assigns a seat, authorizes and dispatches. Never throws; an error in one request does not
 * affect others.
 */
export class RequestHandler {
  readonly #parts: ServerParts;
  readonly #largeBodies = new LargeBodies();
  readonly #observers: RequestObservers;
  readonly #longRunning = new Set<RequestLifetime>();
  readonly #active = new Set<Promise<void>>();

  constructor(parts: ServerParts) {
    this.#parts = parts;
    this.#observers = new RequestObservers(parts.observers ?? [], parts.logger);
  }

  handle(call: HttpCall, connection: ClientConnection): void {
    const done = this.#handle(call, connection).finally(() => this.#active.delete(done));
    this.#active.add(done);
  }

  /** Ends watches and other long-running requests. Resolves once all requests have been answered. */
  async stop(): Promise<void> {
    for (const lifetime of this.#longRunning) lifetime.end(STOPPING);
    await Promise.all(this.#active);
  }

  async #handle(call: HttpCall, connection: ClientConnection): Promise<void> {
    const { request, response } = call;
    const auditId = auditIdOf(request);
    response.setHeader('audit-id', auditId);
    response.setHeader('cache-control', 'no-cache, private');
    const remoteAddress = connection.isLocal ? '' : (connection.tlsSocket.remoteAddress ?? '');
    const observed: ObservedRequest = { auditId, request, startMs: this.#parts.now(), remoteAddress };
    using lifetime = new RequestLifetime(request, response);
    const { signal } = lifetime;
    const warnings = new Warnings();
    try {
      const url = parseRequestUrl(request.url ?? '/');
      await this.#serve(
        { ...call, query: url.query, signal, auditId },
        { url, connection, lifetime, observed, warnings },
      );
    } catch (error) {
      if (lifetime.client.aborted) return;
      const { bodies } = observed;
      const untilDurable = async () => void (await Promise.allSettled([this.#parts.untilDurable()]));
      const query = new URLSearchParams();
      const exchange = { request, response, query, signal: lifetime.client, bodies, untilDurable };
      const writer = new ResponseWriter(exchange, this.#parts.schema, warnings);
      if (error instanceof ApiError && error.status.code === 403 && observed.decision !== 'allow')
        response.setHeader('x-content-type-options', 'nosniff'); // as in upstream, unless admission rejected the request
      await this.#fail(writer, error, auditId).catch(() => response.destroy());
    } finally {
      this.#observers.completed(observed, sentCode(response));
    }
  }

  async #serve(
    exchange: HttpExchange,
    { url, connection, lifetime, observed, warnings }: Handled & { url: RequestUrl },
  ): Promise<void> {
    const info = requestInfo(exchange.request.method ?? '', url);
    const isLong = isLongRunning(info) || exchange.upgrade !== undefined;
    Object.assign(observed, { info, query: url.query, isLongRunning: isLong });
    if (isLong) this.#longRunning.add(lifetime);
    else lifetime.limit(timeLimitMs(url.query));
    try {
      observed.user = await this.#authenticate(exchange.request, url.path, connection);
      const room = this.#observers.room();
      if (room !== undefined) await raceAbort(room, exchange.signal);
      this.#observers.received(observed);
      const user = this.#effectiveUser(exchange, info, observed);
      using _ = await admitRequest(this.#parts, { exchange, info, user, isLongRunning: isLong });
      this.#authorize(exchange, info, { user, observed });
      if (isLong) this.#observers.started(observed);
      exchange.bodies = observed.bodies;
      if (info.isResourceRequest) exchange.untilDurable = this.#parts.untilDurable;
      using largeBody = this.#largeBodies.open(observed.user);
      exchange.largeBody = largeBody;
      const writer = new ResponseWriter(exchange, this.#parts.schema, warnings);
      const work = this.#respond(writer, info, user);
      await (isLong ? work : raceAbort(work, exchange.signal)); // long-running work ends its response itself
    } finally {
      this.#longRunning.delete(lifetime);
    }
  }

  /** Returns the request's user after impersonation, if any. Throws 403 if the impersonation is not allowed. */
  #effectiveUser({ request, query }: HttpExchange, info: RequestInfo, observed: ObservedRequest): UserInfo {
    const user = observed.user!;
    observed.impersonated = this.#parts.impersonate(request.rawHeaders, attributesOf(info, user, query));
    return observed.impersonated ?? user;
  }

  /** Throws 403 unless the user may make the request. */
  #authorize(exchange: HttpExchange, info: RequestInfo, given: { user: UserInfo; observed: ObservedRequest }): void {
    const { query } = exchange;
    const { user, observed } = given;
    observed.decision = 'forbid';
    observed.reason = authorize(this.#parts.authorizer, attributesOf(info, user, query));
    observed.decision = 'allow';
    exchange.authorizedMs = performance.now();
  }

  async #authenticate({ headers }: HttpRequest, path: string, connection: ClientConnection): Promise<UserInfo> {
    if (connection.isLocal) return LOCAL_ADMIN;
    const user = await this.#parts.authenticate({ tlsSocket: connection.tlsSocket, headers });
    if (user === undefined && this.#parts.anonymousPaths?.includes(path)) return ANONYMOUS_USER;
    if (user === undefined) throw unauthorized();
    connection.authenticated(user.username);
    return user;
  }

  #respond(writer: ResponseWriter, info: RequestInfo, user: UserInfo): Promise<void> {
    const parts = this.#parts;
    return respond({ exchange: writer.exchange, writer, info, user, parts });
  }

  async #fail(writer: ResponseWriter, error: unknown, auditId: string): Promise<void> {
    const { exchange } = writer;
    if (!(error instanceof ApiError))
      this.#parts.logger.error(
        { auditId, method: exchange.request.method, error: errorMessage(error) },
        'request failed',
      );
    if (sentCode(exchange.response) !== 0) return void exchange.response.destroy();
    const answer =
      error instanceof ApiError
        ? error
        : internalError(`the server's log has the reason, with the audit ID ${auditId}`);
    await writer.error(answer);
  }
}

/** Returns the status code sent to the client: 0 if none was sent, 101 after a protocol upgrade. */
function sentCode({ headersSent, statusCode }: HttpExchange['response']): number {
  return headersSent || statusCode === 101 ? statusCode : 0;
}

/** Returns the audit ID of a request: the one sent by the client if it is acceptable, otherwise a new one. */
function auditIdOf(request: HttpRequest): string {
  const sent = headerOf(request, 'audit-id');
  return /^[\w.:-]{1,64}$/.test(sent) ? sent : randomUUID();
}
