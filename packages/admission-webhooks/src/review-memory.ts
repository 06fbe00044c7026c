import { tooManyRequests } from '@podwright/api-machinery';

/** Reviews up to this size do not count towards the memory limits. */
const SMALL_BYTES = 64 << 10;
/** Maximum total size of the large reviews of all requests waiting for webhooks. */
const MAX_BYTES = 64 << 20;

/** The reviews of a request that waits for webhooks. Reviews for several webhooks are almost identical, so their size is counted once. */
type Waiting = { caller: string; bytes: number; reviews: number };

/**
 * Bounds the memory of requests waiting for webhooks: a small patch to a large object makes a large review, and a webhook may take half a
 * minute to answer. A caller may hold as many bytes as are still free, so a single caller leaves half of them to others, and two callers
 * leave a third.
 */
export class ReviewMemory {
  readonly #waiting = new Map<object, Waiting>();
  readonly #bytesByCaller = new Map<string, number>();
  #bytes = 0;

  /**
   * Counts a review against its caller until the returned value is disposed; small reviews are not counted. Throws 429 if the caller holds
   * too much.
   */
  hold(request: object, caller: string, bytes: number): Disposable | undefined {
    if (bytes <= SMALL_BYTES) return undefined;
    const waiting = this.#waiting.get(request) ?? this.#begin(request, caller, bytes);
    waiting.reviews += 1;
    return { [Symbol.dispose]: () => this.#end(request, waiting) };
  }

  #begin(request: object, caller: string, bytes: number): Waiting {
    const held = this.#bytesByCaller.get(caller) ?? 0;
    const free = MAX_BYTES - this.#bytes;
    // throws an `ApiError` instead of a `CallError`, because a `CallError` would admit the request under `failurePolicy: Ignore`
    if (bytes > free || (held > 0 && held + bytes > free))
      throw tooManyRequests('Too many large objects wait for admission webhooks, please try again later.', 1);
    this.#add(caller, bytes);
    const waiting = { caller, bytes, reviews: 0 };
    this.#waiting.set(request, waiting);
    return waiting;
  }

  #end(request: object, waiting: Waiting): void {
    waiting.reviews -= 1;
    if (waiting.reviews > 0) return;
    this.#waiting.delete(request);
    this.#add(waiting.caller, -waiting.bytes);
  }

  #add(caller: string, change: number): void {
    this.#bytes += change;
    const held = (this.#bytesByCaller.get(caller) ?? 0) + change;
    if (held > 0) this.#bytesByCaller.set(caller, held);
    else this.#bytesByCaller.delete(caller);
  }
}
