import { randomInt } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorMessage, isErrno, type Logger, PRIVATE_FILE } from '@podwright/base';
import { EXPEDITE_LIMIT_MS } from '../time-limits.ts';

/**
 * The kernel's `rcu_expedited` switch (Documentation/RCU, kernel/ksysfs.c). While it is nonzero, an RCU grace period takes only a fraction
 * of a millisecond, at the cost of an interrupt on every CPU.
 */
export const RCU_SWITCH = '/sys/kernel/rcu_expedited';

/**
 * `state` is the container runtime's state directory, which a reboot can empty. `file` is the path of the kernel's RCU switch; tests
 * override it.
 */
export type RcuExpeditingOptions = { state: string; enabled: boolean; logger: Logger; file?: string };

/**
 * Makes the kernel expedite RCU grace periods during work that waits for them. Changes the switch only if it is 0, to a random number
 * unique to this process, and resets it only if it still has that value: values set by an administrator or another runtime are left alone.
 * The number is also saved in `<state>/rcu_expedited`, so that the switch can be reset on the next start if this process is killed.
 */
export class RcuExpediting {
  readonly #marker: string;
  readonly #file: string;
  readonly #logger: Logger;
  /** The value that this process writes to the switch. Never 1, which is what administrators write. */
  readonly #own = String(randomInt(2, 2 ** 31));
  #enabled: boolean;
  #marked = false;
  #running = 0;

  /** Resets the switch if an earlier process of this container runtime was killed before resetting it. */
  constructor({ state, enabled, logger, file = RCU_SWITCH }: RcuExpeditingOptions) {
    this.#marker = join(state, 'rcu_expedited');
    this.#file = file;
    this.#logger = logger;
    this.#enabled = enabled;
    this.#recover();
  }

  /** Runs `work` with expedited grace periods. After `EXPEDITE_LIMIT_MS`, expediting ends while the work continues. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    if (!this.#enabled) return await work();
    if (this.#running++ === 0) this.#write('0', this.#own);
    let leave = () => {
      leave = () => undefined;
      if (--this.#running === 0) this.#write(this.#own, '0');
    };
    const late = setTimeout(() => leave(), EXPEDITE_LIMIT_MS);
    try {
      return await work();
    } finally {
      clearTimeout(late);
      leave();
    }
  }

  /** Resets the kernel's RCU switch; later work is not expedited. */
  close(): void {
    this.#enabled = false;
    this.#write(this.#own, '0');
    rmSync(this.#marker, { force: true });
  }

  #recover(): void {
    try {
      this.#write(readFileSync(this.#marker, 'utf8'), '0');
      rmSync(this.#marker);
    } catch (error) {
      if (!isErrno(error, 'ENOENT')) this.#giveUp(error);
    }
  }

  /**
   * Compare-and-set: changes the switch to `value` if it is currently `expected`. Writes the marker file first, in case this process is
   * killed.
   */
  #write(expected: string, value: string): void {
    try {
      if (readFileSync(this.#file, 'utf8').trim() !== expected) return;
      if (value === this.#own && !this.#marked) {
        writeFileSync(this.#marker, value, { mode: PRIVATE_FILE });
        this.#marked = true;
      }
      writeFileSync(this.#file, value);
    } catch (error) {
      this.#giveUp(error);
    }
  }

  /**
   * Gives up expediting permanently, because the kernel has no switch or this process may not write to it. Pods still start, but without
   * expedited grace periods.
   */
  #giveUp(error: unknown): void {
    if (this.#enabled) this.#logger.warn({ error: errorMessage(error) }, 'RCU grace periods cannot be expedited');
    this.#enabled = false;
  }
}
