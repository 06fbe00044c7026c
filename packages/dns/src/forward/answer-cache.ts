import { RecentlyUsed } from '@podwright/base';
import { lowered } from '../wire/names.ts';
import type { ForwardedQuestion } from './exchange.ts';
import { MAX_CACHED, MAX_CACHED_BYTES } from './limits.ts';
import { lifetimeSeconds, type UpstreamAnswer } from './upstream-answer.ts';

/** A resolver's response and when it arrived: its TTLs count from `atMs` on the monotonic clock, and are capped at `lifetimeSeconds`. */
export type TimedAnswer = { answer: UpstreamAnswer; atMs: number; lifetimeSeconds: number };

/** Caches responses, including negative ones, until they expire. */
export class AnswerCache {
  readonly #answers = new RecentlyUsed<TimedAnswer>(MAX_CACHED);
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  get(question: ForwardedQuestion): TimedAnswer | undefined {
    const timed = this.#answers.get(questionKey(question));
    return timed !== undefined && this.ageSeconds(timed) < timed.lifetimeSeconds ? timed : undefined;
  }

  /** Caches a response if it is cacheable, and returns it with its arrival time. */
  add(question: ForwardedQuestion, given: UpstreamAnswer): TimedAnswer {
    // a datagram might be a slice of a larger allocation, so copy it
    const answer = { ...given, message: Buffer.from(given.message) };
    const timed = { answer, atMs: this.#now(), lifetimeSeconds: lifetimeSeconds(given) };
    if (timed.lifetimeSeconds > 0 && answer.message.length <= MAX_CACHED_BYTES)
      this.#answers.set(questionKey(question), timed);
    return timed;
  }

  ageSeconds({ atMs }: TimedAnswer): number {
    return Math.floor((this.#now() - atMs) / 1000);
  }
}

/** Returns the cache key of a question. Questions with the same answer have the same key. */
export function questionKey({ name, type, dnssecOk, checkingDisabled }: ForwardedQuestion): string {
  return `${type} ${Number(dnssecOk)}${Number(checkingDisabled)} ${lowered(name)}`;
}
