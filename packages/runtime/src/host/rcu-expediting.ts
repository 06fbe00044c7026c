import { randomInt } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorMessage, isErrno, type Logger, PRIVATE_FILE } from '@podwright/base';
import { EXPEDITE_LIMIT_MS } from '../time-limits.ts';

/**
 * The kernel's switch (`rcu_expedited` in the kernel's Documentation/RCU and kernel/ksysfs.c): while it is
 * not 0, whoever waits for an RCU
 * grace period gets it in a fraction of a millisecond, at the price of an interrupt on every processor.
 */
export const RCU_SWITCH = '/sys/kernel/rcu_expedited';

/** `state` is a directory of this runtime's own that a reboot may empty. */
export type RcuExpeditingOptions = { state: string; enabled: boolean; logger: Logger; file?: string };

/**
 * Has the kernel's RCU grace periods expedited while work is under way that waits for them. The switch is touched only if it is
 * 0, with a number that tells it from anybody else's, and set to 0 again only if that number is still in it. So neither an
 * administrator nor another runtime is interfered with, and what was left by a runtime that was killed is known: its number
 * is in `<state>/rcu_expedited`.
 */
export class RcuExpediting {
  readonly #marker: string;
  readonly #file: string;
  readonly #logger: Logger;
  /** 1 is what people write. */
  readonly #own = String(randomInt(2, 2 ** 31));
  #enabled: boolean;
  #marked = false;
  #running = 0;

  /** Puts the switch back, should an earlier runtime have been killed while it was on. */
  constructor({ state, enabled, logger, file = RCU_SWITCH }: RcuExpeditingOptions) {
    this.#marker = join(state, 'rcu_expedited');
    this.#file = file;
    this.#logger = logger;
    this.#enabled = enabled;
    this.#recover();
  }

  /** Expedites until the work has ended, but no longer than `EXPEDITE_LIMIT_MS`. */
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

  /** Puts the switch back. */
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

  /** Writes `value` where the switch has the value `expected`; first the marker says what will be in it. */
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

  /** A kernel without the switch, or a container that may not write it: pods start as without the setting. */
  #giveUp(error: unknown): void {
    if (this.#enabled) this.#logger.warn({ error: errorMessage(error) }, 'RCU grace periods cannot be expedited');
    this.#enabled = false;
  }
}
