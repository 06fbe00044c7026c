import { Timer } from '@podwright/base';
import { shuffled } from './random.ts';

export type Reordering = { size: number; withinMs: number; random: () => number };

/** Holds calls until there are `size` of them or `withinMs` have passed since the first one. They then continue in random order. */
export class HeldCalls {
  readonly #reordering: Reordering;
  #waiting: (() => void)[] = [];
  #timer: Timer | undefined;

  constructor(reordering: Reordering) {
    this.#reordering = reordering;
  }

  /** Resolves when the call may continue. */
  hold(): Promise<void> {
    const { size, withinMs } = this.#reordering;
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      // deferred until the last held call awaits its promise, so that the random order includes that call
      if (this.#waiting.length >= size) queueMicrotask(() => this.#release());
      else this.#timer ??= new Timer(() => this.#release(), withinMs).unref();
    });
  }

  #release(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    for (const resolve of shuffled(this.#waiting.splice(0), this.#reordering.random)) resolve();
  }
}

const LATE = Symbol('late');

/** Yields the messages in groups of `size`, each in random order. A group still incomplete after `withinMs` is yielded as is. */
export async function* reordered<T>(
  messages: AsyncIterable<T>,
  { size, withinMs, random }: Reordering,
): AsyncGenerator<T> {
  const iterator = messages[Symbol.asyncIterator]();
  try {
    let next = iterator.next();
    for (;;) {
      const first = await next;
      if (first.done) return;
      const group = [first.value];
      next = iterator.next();
      const late = Promise.withResolvers<typeof LATE>();
      using _timer = new Timer(() => late.resolve(LATE), withinMs);
      while (group.length < size) {
        const result = await Promise.race([next, late.promise]);
        if (result === LATE || result.done) break;
        group.push(result.value);
        next = iterator.next();
      }
      yield* shuffled(group, random);
    }
  } finally {
    await iterator.return?.();
  }
}
