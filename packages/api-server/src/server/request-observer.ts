import type { Logger } from '@podwright/base';
import { errorMessage } from '@podwright/base';
import type { UserInfo } from '@podwright/kube-kinds';
import type { HttpRequest, ObservedBodies } from '../wire/http-exchange.ts';
import type { RequestInfo } from './request-info.ts';

/** A request at its current stage of processing. Fields that have not been determined yet are absent. */
export type ObservedRequest = {
  readonly auditId: string;
  readonly request: HttpRequest;
  /** When the request was received, in Unix milliseconds. */
  readonly startMs: number;
  /** The client's IP address; '' on the unix socket. */
  readonly remoteAddress: string;
  info?: RequestInfo;
  query?: URLSearchParams;
  isLongRunning?: boolean;
  /** The user as authenticated, before impersonation. */
  user?: UserInfo;
  /** The impersonated user, if any. */
  impersonated?: UserInfo;
  decision?: 'allow' | 'forbid';
  /** Why the authorizer allowed the request. */
  reason?: string;
  /** Collects the objects in the request and response bodies; set only if an observer needs them. */
  bodies?: ObservedBodies;
};

/** Notified of requests. Its methods must return quickly. */
export type RequestObserver = {
  /**
   * Returns a promise that a request must await before it is handled, because the observer has not caught up with earlier requests. Must
   * not reject.
   */
  room?(): Promise<void> | undefined;
  /** Called when the request has been authenticated. */
  received?(request: ObservedRequest): void;
  /** Called when the handler of a long-running request (such as a watch, exec or log) starts. Not called for other requests. */
  started?(request: ObservedRequest): void;
  /** Called when the request is complete. `status`: the HTTP status, or 0 if the client disconnected before the response. */
  completed(request: ObservedRequest, status: number): void;
};

/** Notifies several observers. An error thrown by one of them is logged, and affects neither the other observers nor the request. */
export class RequestObservers implements RequestObserver {
  readonly #observers: readonly RequestObserver[];
  readonly #logger: Pick<Logger, 'error'>;

  constructor(observers: readonly RequestObserver[], logger: Pick<Logger, 'error'>) {
    this.#observers = observers;
    this.#logger = logger;
  }

  room(): Promise<void> | undefined {
    const busy = this.#observers.flatMap((observer) => observer.room?.() ?? []);
    return busy.length === 0 ? undefined : Promise.all(busy).then(() => undefined);
  }

  received(request: ObservedRequest): void {
    this.#each((observer) => observer.received?.(request));
  }

  started(request: ObservedRequest): void {
    this.#each((observer) => observer.started?.(request));
  }

  completed(request: ObservedRequest, status: number): void {
    this.#each((observer) => observer.completed(request, status));
  }

  #each(inform: (observer: RequestObserver) => void): void {
    for (const observer of this.#observers)
      try {
        inform(observer);
      } catch (error) {
        this.#logger.error({ error: errorMessage(error) }, 'observe a request failed');
      }
  }
}
