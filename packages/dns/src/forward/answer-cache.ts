import { RecentlyUsed } from '@podwright/base';
import { lowered } from '../wire/names.ts';
import type { ForwardedQuestion } from './exchange.ts';
import { MAX_CACHED, MAX_CACHED_BYTES } from './limits.ts';
import { lifetimeSeconds, type UpstreamAnswer } from './upstream-answer.ts';

/** An answer with its time: TTLs are those at `atMs` of the monotonic clock, and not more than `lifetimeSeconds`. */
export type TimedAnswer = { answer: UpstreamAnswer; atMs: number; lifetimeSeconds: number };

/** Keeps answers, negative ones included, for their lifetimes. */
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

  /** Keeps an answer if it may be kept, and returns it with its time. */
  add(question: ForwardedQuestion, given: UpstreamAnswer): TimedAnswer {
    // the bytes of a datagram may be part of a larger allocation
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

/** A key that is equal for questions with the same answer. */
export function questionKey({ name, type, dnssecOk, checkingDisabled }: ForwardedQuestion): string {
  return `${type} ${Number(dnssecOk)}${Number(checkingDisabled)} ${lowered(name)}`;
}
