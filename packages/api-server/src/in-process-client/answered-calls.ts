import { randomUUID } from 'node:crypto';
import { ApiError } from '@podwright/api-machinery';
import { raceAbort } from '@podwright/base';
import type { Call } from '@podwright/kube-client/calls';
import { admitRequest } from '../server/admit-request.ts';
import { attributesOf, authorize } from '../server/authorize-request.ts';
import { isLongRunning, requestInfo } from '../server/request-info.ts';
import { type ObservedRequest, RequestObservers } from '../server/request-observer.ts';
import { parseRequestUrl } from '../server/request-url.ts';
import { respond } from '../server/respond.ts';
import type { ServerParts } from '../server/server-parts.ts';
import type { HttpExchange } from '../wire/http-exchange.ts';
import { directExchange, type LocalUser } from './direct-exchange.ts';
import { type DirectAnswer, DirectWriter, type ReceiveWatch } from './direct-writer.ts';

/** Limits, authorizes and executes a user's calls and notifies observers, as `RequestHandler` does for HTTP requests. */
export class AnsweredCalls {
  readonly #parts: ServerParts;
  readonly #user: LocalUser;
  readonly #observers: RequestObservers;

  constructor(parts: ServerParts, user: LocalUser) {
    this.#parts = parts;
    this.#user = user;
    this.#observers = new RequestObservers(parts.observers ?? [], parts.logger);
  }

  /** Rejects with `ApiError` or the signal's reason. For watches, resolves when the watch has ended. */
  async answer(call: Call, signal: AbortSignal, receiveWatch?: ReceiveWatch): Promise<DirectAnswer> {
    const exchange = directExchange(call, this.#user, { query: parseRequestUrl(call.path).query, signal });
    const observed: ObservedRequest = {
      ...{ auditId: randomUUID(), request: exchange.request, startMs: this.#parts.now(), remoteAddress: '' },
      user: this.#user,
    };
    let status = 0;
    try {
      const answer = await this.#respond(exchange, observed, receiveWatch);
      status = answer.status;
      return answer;
    } catch (error) {
      status = this.#failed(observed, error, signal);
      await Promise.allSettled([this.#parts.untilDurable()]);
      throw error;
    } finally {
      this.#observers.completed(observed, status);
    }
  }

  async #respond(
    exchange: HttpExchange,
    observed: ObservedRequest,
    receiveWatch: ReceiveWatch | undefined,
  ): Promise<DirectAnswer> {
    const { request, query, signal } = exchange;
    const parts = this.#parts;
    const user = this.#user;
    const info = requestInfo(request.method!, parseRequestUrl(request.url!));
    Object.assign(observed, { info, query, isLongRunning: isLongRunning(info) });
    this.#observers.received(observed);
    using _ = await admitRequest(parts, { exchange, info, user, isLongRunning: observed.isLongRunning! });
    observed.decision = 'forbid';
    observed.reason = authorize(parts.authorizer, attributesOf(info, user, query));
    observed.decision = 'allow';
    if (observed.isLongRunning) this.#observers.started(observed);
    exchange.bodies = observed.bodies;
    const writer = new DirectWriter(exchange, parts.schema);
    writer.receiveWatch = receiveWatch;
    const work = respond({ exchange, writer, info, user, parts });
    await (observed.isLongRunning ? work : raceAbort(work, signal)); // a watch ends itself
    await parts.untilDurable();
    return writer.answer ?? { status: 200, value: '' };
  }

  /** Returns the status of a failed call, or 0 if the caller is no longer waiting. */
  #failed({ bodies }: ObservedRequest, error: unknown, signal: AbortSignal): number {
    if (signal.aborted && error === signal.reason) return 0;
    if (!(error instanceof ApiError)) return 500;
    if (bodies !== undefined) bodies.response = error.status;
    return error.status.code;
  }
}
