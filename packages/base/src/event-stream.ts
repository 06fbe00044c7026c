import { PodwrightError } from './errors.ts';

/**
 * Broadcasts values to any number of subscribers, each with its own bounded queue. A subscriber that falls behind receives the queued
 * values followed by an error, and must then resubscribe and relist.
 */
export class Broadcast<T> {
  readonly #subscribers = new Set<Subscription<T>>();

  publish(value: T): void {
    for (const subscriber of this.#subscribers) subscriber.push(value);
  }

  /** Subscribes to values published from now on, until the signal aborts. `maxQueued`: maximum number of unread values (default 10,000). */
  subscribe(signal: AbortSignal, maxQueued = 10_000): Subscription<T> {
    const onAbort = () => subscription.end();
    const subscription = new Subscription<T>(maxQueued, () => {
      this.#subscribers.delete(subscription);
      signal.removeEventListener('abort', onAbort);
    });
    this.#subscribers.add(subscription);
    if (signal.aborted) subscription.end();
    else signal.addEventListener('abort', onAbort, { once: true });
    return subscription;
  }
}

/** Callbacks of a long-lived subscriber. */
export type Follower<T> = {
  subscribe: (signal: AbortSignal) => Subscription<T>;
  onValue: (value: T) => void;
  /** Called when values were lost and a new subscription has started. The follower must then re-read the current state. */
  onOverflow: () => void;
};

/** Follows a broadcast until its subscription ends, usually because the signal aborted. Rejects if `onValue` throws. */
export async function follow<T>({ subscribe, onValue, onOverflow }: Follower<T>, signal: AbortSignal): Promise<void> {
  for (let values = subscribe(signal); ; ) {
    try {
      for await (const value of values) onValue(value);
      return;
    } catch (error) {
      if (!(error instanceof Overflow)) throw error;
      values = subscribe(signal);
      onOverflow();
    }
  }
}

class Overflow extends PodwrightError {}

/** A subscription to a broadcast. Iteration ends with the subscription; it rejects with `resource_exhausted` if the queue overflowed. */
export class Subscription<T> implements AsyncIterable<T> {
  #overflowed = false;
  #queue: T[] = [];
  #ended = false;
  #wake: (() => void) | undefined;
  readonly #maxQueued: number;
  readonly #onEnd: () => void;

  constructor(maxQueued: number, onEnd: () => void) {
    this.#maxQueued = maxQueued;
    this.#onEnd = onEnd;
  }

  push(value: T): void {
    if (this.#queue.length >= this.#maxQueued) {
      this.#overflowed = true;
      this.end();
      return;
    }
    this.#queue.push(value);
    this.#wake?.();
  }

  end(): void {
    this.#ended = true;
    this.#onEnd();
    this.#wake?.();
  }

  #overflow(): Overflow {
    const message = `watch: more than ${this.#maxQueued} changes are waiting; list and watch again`;
    return new Overflow('resource_exhausted', message);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    try {
      for (;;) {
        const batch = this.#queue;
        this.#queue = [];
        yield* batch;
        if (this.#queue.length > 0) continue;
        if (this.#overflowed) throw this.#overflow();
        if (this.#ended) return;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        this.#wake = undefined;
      }
    } finally {
      this.end();
    }
  }
}
