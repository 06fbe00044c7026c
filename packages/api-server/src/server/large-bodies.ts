import { setImmediate, setTimeout } from 'node:timers/promises';
import { tooManyRequests } from '@podwright/api-machinery';
import { raceAbort } from '@podwright/base';
import { MASTERS, type UserInfo } from '@podwright/kube-kinds';
import { callerOf } from '../authorization/known-users.ts';
import type { LargeBody } from '../wire/http-exchange.ts';

/** Bodies up to this size are not counted and are processed immediately. */
const LARGE_BYTES = 64 << 10;
/** Maximum total size of request bodies that are being received or waiting to be processed, not counting those of administrators. */
const MAX_BYTES = 64 << 20;
const MAX_PAUSE_MS = 1000;

/** A caller (`callerOf`) with the large request bodies that count against it. */
type Caller = { key: string; bodies: Set<Body>; bytes: number; isAdministrator: boolean };

type Body = { caller?: Caller; bytes: number; refusal: AbortController; start?: () => void; hadTurn?: boolean };

/**
 * Limits the memory used by large request bodies and serializes their processing, because decoding and validating a body can take a second
 * of CPU time. The event loop serves other requests in the pauses in between. Callers take turns. If the total size is exceeded, the last
 * body of the caller with the most bytes is rejected, so a caller can only fill the memory while no other caller needs it.
 */
export class LargeBodies {
  /** Callers with large bodies, in the order of their next turns. */
  readonly #callers = new Map<string, Caller>();
  #bytes = 0;
  #isBusy = false;

  /** Starts tracking a request's body. The returned tracker must be disposed at the end of the request. */
  open(user: UserInfo): LargeBody & Disposable {
    const body: Body = { bytes: 0, refusal: new AbortController() };
    return {
      refused: body.refusal.signal,
      received: (bytes) => this.#received(body, bytes, user),
      turn: (signal) => this.#turn(body, signal),
      turnFor: (objectBytes, signal) => this.#turnFor(body, { objectBytes, user, signal }),
      [Symbol.dispose]: () => this.#remove(body),
    };
  }

  /**
   * Counts received bytes of a request body. Throws 429 if the total size of bodies exceeds the limit and this caller has the most bytes.
   */
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

  /**
   * Waits until a received body may be processed. Throws 429 if the body is rejected while it waits, or the signal's reason if the signal
   * aborts.
   */
  async #turn(body: Body, signal: AbortSignal | undefined): Promise<void> {
    if (body.caller === undefined) return body.refusal.signal.throwIfAborted();
    const { promise, resolve } = Promise.withResolvers<void>();
    body.start = resolve;
    this.#startNext();
    await raceAbort(promise, AbortSignal.any([body.refusal.signal, ...(signal === undefined ? [] : [signal])]));
  }

  /**
   * Waits until a small body may be processed, if it is for a large object, such as a patch: this takes as long as processing a large body.
   * The small body's bytes are not counted.
   */
  async #turnFor(
    body: Body,
    { objectBytes, user, signal }: { objectBytes: number; user: UserInfo; signal: AbortSignal | undefined },
  ): Promise<void> {
    if (objectBytes <= LARGE_BYTES || body.hadTurn) return;
    body.caller ??= this.#callerOf(user);
    body.caller.bodies.add(body);
    await this.#turn(body, signal);
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
      next.hadTurn = true;
      next.start!();
      void pauseAfterWork().then(() => {
        this.#isBusy = false;
        this.#startNext();
      });
      return;
    }
  }
}

/**
 * Waits until the request has processed its body, and then for as long as the processing took (up to MAX_PAUSE_MS), so that the event loop
 * can serve other requests.
 */
async function pauseAfterWork(): Promise<void> {
  const startedAtMs = performance.now();
  await setImmediate();
  await setTimeout(Math.min(performance.now() - startedAtMs, MAX_PAUSE_MS));
}
