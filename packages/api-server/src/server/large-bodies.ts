import { setImmediate, setTimeout } from 'node:timers/promises';
import { tooManyRequests } from '@podwright/api-machinery';
import { raceAbort } from '@podwright/base';
import { MASTERS, type UserInfo } from '@podwright/kube-kinds';
import { callerOf } from '../authorization/known-users.ts';
import type { LargeBody } from '../wire/http-exchange.ts';

/** Bodies up to this size are processed at once and not counted. */
const LARGE_BYTES = 64 << 10;
/** Maximum size of all bodies that are being received or wait for their turn, except those of administrators. */
const MAX_BYTES = 64 << 20;
const MAX_PAUSE_MS = 1000;

/** The large bodies of a caller (`callerOf`). */
type Caller = { key: string; bodies: Set<Body>; bytes: number; isAdministrator: boolean };

type Body = { caller?: Caller; bytes: number; refusal: AbortController; start?: () => void };

/**
 * Bounds the memory of large request bodies, and serializes their processing, because a body can take a second of CPU time to decode and
 * validate. In the pauses between them, the event loop serves other requests. Callers take turns. If all bodies together are too large, the
 * last body of the caller with the most bytes is refused, so a caller can fill the memory only while no other caller needs it.
 */
export class LargeBodies {
  /** The callers with large bodies. The one whose turn is next comes first. */
  readonly #callers = new Map<string, Caller>();
  #bytes = 0;
  #isBusy = false;

  /** Begins to count the body of a request. The caller must dispose of the result at the end of the request. */
  open(user: UserInfo): LargeBody & Disposable {
    const body: Body = { bytes: 0, refusal: new AbortController() };
    return {
      refused: body.refusal.signal,
      received: (bytes) => this.#received(body, bytes, user),
      turn: (signal) => this.#turn(body, signal),
      [Symbol.dispose]: () => this.#remove(body),
    };
  }

  /** Counts the bytes of a body. Throws 429 if all bodies together are too large and this caller has the most bytes. */
  #received(body: Body, bytes: number, user: UserInfo): void {
    body.refusal.signal.throwIfAborted();
    if (bytes <= LARGE_BYTES) return;
    const caller = body.caller ?? this.#callerOf(user);
    body.caller = caller;
    caller.bodies.add(body);
    this.#resize(body, bytes);
    while (this.#bytes > MAX_BYTES) this.#refuseLargest();
    if (caller.isAdministrator && caller.bytes > MAX_BYTES) this.#refuse(body);
    body.refusal.signal.throwIfAborted();
  }

  #callerOf({ username, groups }: UserInfo): Caller {
    const key = callerOf(username);
    const known = this.#callers.get(key);
    if (known !== undefined) return known;
    const caller = { key, bodies: new Set<Body>(), bytes: 0, isAdministrator: groups.includes(MASTERS) };
    this.#callers.set(key, caller);
    return caller;
  }

  #refuseLargest(): void {
    const callers = [...this.#callers.values()].filter(({ isAdministrator }) => !isAdministrator);
    const largest = callers.reduce((most, one) => (one.bytes > most.bytes ? one : most));
    this.#refuse([...largest.bodies].at(-1)!);
  }

  #refuse(body: Body): void {
    this.#remove(body);
    body.refusal.abort(tooManyRequests('Too many large requests, please try again later.', 1));
  }

  #resize(body: Body, bytes: number): void {
    const caller = body.caller!;
    if (!caller.isAdministrator) this.#bytes += bytes - body.bytes;
    caller.bytes += bytes - body.bytes;
    body.bytes = bytes;
  }

  #remove(body: Body): void {
    const { caller } = body;
    if (caller === undefined) return;
    this.#resize(body, 0);
    caller.bodies.delete(body);
    delete body.caller;
    if (caller.bodies.size === 0) this.#callers.delete(caller.key);
  }

  /** Waits until a received body may be processed. Throws 429 if the body is refused in the meantime, or the signal's reason. */
  async #turn(body: Body, signal: AbortSignal | undefined): Promise<void> {
    if (body.caller === undefined) return body.refusal.signal.throwIfAborted();
    const { promise, resolve } = Promise.withResolvers<void>();
    body.start = resolve;
    this.#startNext();
    await raceAbort(promise, AbortSignal.any([body.refusal.signal, ...(signal === undefined ? [] : [signal])]));
  }

  #startNext(): void {
    if (this.#isBusy) return;
    for (const caller of this.#callers.values()) {
      const next = [...caller.bodies].find(({ start }) => start !== undefined);
      if (next === undefined) continue;
      this.#callers.delete(caller.key);
      this.#callers.set(caller.key, caller); // behind the others
      this.#remove(next);
      this.#isBusy = true;
      next.start!();
      void pauseAfterWork().then(() => {
        this.#isBusy = false;
        this.#startNext();
      });
      return;
    }
  }
}

/** Resolves when the request has processed its body and a pause of the same length has passed. */
async function pauseAfterWork(): Promise<void> {
  const startedAtMs = performance.now();
  await setImmediate();
  await setTimeout(Math.min(performance.now() - startedAtMs, MAX_PAUSE_MS));
}
