import { ApiError, internalError } from '@podwright/api-machinery';
import { errorMessage, PodwrightError, raceAbort } from '@podwright/base';
import type { KubeObject } from '@podwright/kube-api';
import { ApiStatusError, type CallOptions, type ListOf, type WatchEvent } from '@podwright/kube-client';
import {
  type Call,
  type Calls,
  repeatedCall,
  statusOfAnswer,
  type WatchCallOptions,
  withRepeats,
} from '@podwright/kube-client/calls';
import type { ServerParts } from '../server/server-parts.ts';
import { eventValue, type OutputEvent } from '../wire/encode-event.ts';
import type { WatchResponseOptions } from '../wire/watch-response.ts';
import { AnsweredCalls } from './answered-calls.ts';
import { copyJson } from './copy-json.ts';
import type { LocalUser } from './direct-exchange.ts';
import type { DirectAnswer, ReceiveWatch } from './direct-writer.ts';

type OpenedWatch = {
  events: AsyncIterable<readonly OutputEvent[]>;
  options: WatchResponseOptions;
  /** Ends the watch. Must be called by the reader when it stops reading events. */
  close: () => void;
};

/**
 * Passes a user's calls to the server's request handlers as values, without a connection or encoding. The user is authorized like any
 * other, but not authenticated: being in this process is enough.
 */
export class DirectCalls implements Calls {
  readonly #answered: AnsweredCalls;
  readonly #logger: ServerParts['logger'];
  readonly #watches = new Set<AbortController>();
  #isClosed = false;

  constructor(parts: ServerParts, user: LocalUser) {
    this.#answered = new AnsweredCalls(parts, user);
    this.#logger = parts.logger;
  }

  async object<T extends KubeObject>(call: Call, options?: CallOptions): Promise<T> {
    const { value } = await this.#answer(call, options);
    if (typeof value === 'string') throw new PodwrightError('internal', `${call.what}: the response is not an object`);
    value.metadata ??= {}; // reviews have no metadata
    return value as unknown as T;
  }

  async list<T extends KubeObject>(call: Call, _: unknown, options?: CallOptions): Promise<ListOf<T>> {
    const { metadata, items } = (await this.#answer(call, options)).value as unknown as ListOf<T>;
    return { metadata, items };
  }

  async done(call: Call, options?: CallOptions): Promise<void> {
    await this.#answer(call, options);
  }

  async text(call: Call, options?: CallOptions): Promise<string> {
    const { value } = await this.#answer(call, options);
    return typeof value === 'string' ? value : `${JSON.stringify(value)}\n`;
  }

  async *watch<T extends KubeObject>(
    call: Call,
    { onOpen }: WatchCallOptions,
    given: AbortSignal,
  ): AsyncGenerator<WatchEvent<T>> {
    using ending = this.#ending(given);
    const { signal } = ending;
    const watch = await withRepeats(() => raceAbort(this.#open(call, signal), signal), signal);
    onOpen?.();
    try {
      const { encoding } = watch.options;
      for await (const batch of watch.events)
        for (const event of batch) {
          const object = copyJson(await eventValue(event, { ...encoding, nowMs: 0, isFirst: false }));
          yield { type: event.type, object } as unknown as WatchEvent<T>;
        }
    } catch (error) {
      throw this.#failure(call, error, signal);
    } finally {
      watch.close();
    }
  }

  /** Ends all watches. Later calls fail. */
  close(): void {
    this.#isClosed = true;
    for (const controller of this.#watches) controller.abort(new Error('the API server has stopped'));
  }

  /** Returns a signal that aborts when `given` aborts or when the server stops. */
  #ending(given: AbortSignal): { signal: AbortSignal } & Disposable {
    const controller = new AbortController();
    const follow = () => controller.abort(given.reason);
    if (given.aborted) follow();
    given.addEventListener('abort', follow, { once: true });
    this.#watches.add(controller);
    const dispose = () => {
      given.removeEventListener('abort', follow);
      this.#watches.delete(controller);
    };
    return { signal: controller.signal, [Symbol.dispose]: dispose };
  }

  #open(call: Call, signal: AbortSignal): Promise<OpenedWatch> {
    const { promise, resolve, reject } = Promise.withResolvers<OpenedWatch>();
    const receive: ReceiveWatch = async (events, options) => {
      if (signal.aborted) return;
      const closed = Promise.withResolvers<void>();
      resolve({ events, options, close: closed.resolve });
      return closed.promise;
    };
    const refused = () => reject(new PodwrightError('internal', `${call.what}: the response is not a watch`));
    this.#tryAnswer(call, signal, receive).then(refused, reject);
    return promise;
  }

  #answer(call: Call, options: CallOptions = {}): Promise<DirectAnswer> {
    return repeatedCall(call.what, options, (signal) => this.#tryAnswer(call, signal));
  }

  async #tryAnswer(call: Call, signal: AbortSignal, receiveWatch?: ReceiveWatch): Promise<DirectAnswer> {
    if (this.#isClosed) throw new PodwrightError('unavailable', `${call.what}: the API server has stopped`);
    const answer = await this.#answered.answer(call, signal, receiveWatch).catch((error: unknown) => {
      throw this.#failure(call, error, signal);
    });
    const { status, value } = answer;
    if (status < 300) return answer;
    throw statusError(call, status, typeof value === 'string' ? { text: value } : { object: value });
  }

  /**
   * Returns the error with which an HTTP client would reject the call. Errors other than `ApiError` are logged and become an internal
   * error.
   */
  #failure(call: Call, error: unknown, signal: AbortSignal): unknown {
    if (signal.aborted && error === signal.reason) return error;
    if (error instanceof ApiError) return statusError(call, error.status.code, { object: error.status });
    this.#logger.error({ method: call.method, error: errorMessage(error) }, 'request failed');
    const { status } = internalError("the server's log has the reason");
    return statusError(call, status.code, { object: status });
  }
}

/** Returns the error for an unsuccessful response, which contains a Status or text. */
function statusError({ what, method }: Call, status: number, body: { object: object } | { text: string }) {
  const isText = 'text' in body;
  const text = isText ? body.text : JSON.stringify(body.object);
  const contentType = isText ? 'text/plain' : 'application/json';
  return new ApiStatusError(what, statusOfAnswer({ method, status, contentType, retryAfter: undefined, text }));
}
