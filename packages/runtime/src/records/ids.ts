import { randomBytes } from 'node:crypto';

/** A new sandbox or container id: 64 hex digits, as every other runtime's. */
export function newId(): string {
  return randomBytes(32).toString('hex');
}

/** Wall-clock time in milliseconds, with a fraction that makes each answer later than the one before it. */
export class RecordClock {
  #last = 0;

  now(): number {
    this.#last = Math.max(Date.now(), this.#last + 0.001);
    return this.#last;
  }
}

/** Milliseconds as the CRI's nanoseconds. */
export function toNanoseconds(milliseconds: number): bigint {
  return BigInt(Math.round(milliseconds * 1000)) * 1000n;
}
