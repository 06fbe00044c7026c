import { randomBytes } from 'node:crypto';

/** Returns a new random ID for a sandbox or container: 64 hex digits, as in other CRI runtimes. */
export function newId(): string {
  return randomBytes(32).toString('hex');
}

/** A wall clock that returns strictly increasing fractional milliseconds. */
export class RecordClock {
  #last = 0;

  now(): number {
    this.#last = Math.max(Date.now(), this.#last + 0.001);
    return this.#last;
  }
}

/** Converts milliseconds to the CRI's nanoseconds. */
export function toNanoseconds(milliseconds: number): bigint {
  return BigInt(Math.round(milliseconds * 1000)) * 1000n;
}
