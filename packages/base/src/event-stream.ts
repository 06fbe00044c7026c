/**
 * Fan-out of values to any number of subscribers, each with its own bounded queue. A subscriber that does
 * not keep up is ended with `overflowed` set, so that it lists anew instead of missing values silently.
 */
export class Broadcast<T> {
  readonly #subscribers = new Set<Subscription<T>>();

  publish(value: T): void {
    for (const subscriber of this.#subscribers) subscriber.push(value);
  }

  /** Values published from this call on, until the signal aborts. */
  subscribe(signal: AbortSignal, maxQueued = 10_000): Subscription<T> {
    const subscription = new Subscription<T>(maxQueued, () => this.#subscribers.delete(subscription));
    this.#subscribers.add(subscription);
    if (signal.aborted) subscription.end();
    else signal.addEventListener('abort', () => subscription.end(), { once: true });
    return subscription;
  }
}

export class Subscription<T> implements AsyncIterable<T> {
  overflowed = false;
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
      this.overflowed = true;
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

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    try {
      for (;;) {
        const batch = this.#queue;
        this.#queue = [];
        yield* batch;
        if (this.#queue.length > 0) continue;
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
