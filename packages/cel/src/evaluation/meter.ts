import type { Evaluation } from '../functions/overload.ts';
import { charactersOf } from '../values/values.ts';

/** The error of an evaluation that has exceeded its cost limit. Unlike `CelError`, no operator absorbs it. */
export class CostExceeded extends Error {
  constructor() {
    super('operation cancelled: actual cost limit exceeded');
  }
}

/** Number of UTF-16 units from which the length of a text is cached, because counting its characters takes longer than a step. */
const LONG_TEXT = 1000;
const MAX_KNOWN = 16;

/**
 * Bounds an evaluation by two counters. `charge` counts upstream's cost. `spend` counts steps of work that upstream's cost underestimates:
 * compared elements of nested lists, characters that a function inserts, instructions of regular expressions.
 */
export class Meter implements Evaluation {
  cost = 0;
  remaining: number;
  readonly #limit: number;
  readonly #lengths = new Map<string, number>();

  constructor(limit: number, steps: number) {
    this.#limit = limit;
    this.remaining = steps;
  }

  /** Adds to upstream's cost. Throws `CostExceeded`. */
  charge(cost: number): void {
    this.cost += cost;
    if (this.cost > this.#limit) throw new CostExceeded();
  }

  /** Adds steps of work. Throws `CostExceeded`. */
  spend(steps: number): void {
    this.remaining -= steps;
    if (this.remaining < 0) throw new CostExceeded();
  }

  readonly characters = (text: string): number => {
    if (text.length < LONG_TEXT) return charactersOf(text);
    const known = this.#lengths.get(text);
    if (known !== undefined) return known;
    this.spend(Math.ceil(text.length / 10));
    const length = charactersOf(text);
    if (this.#lengths.size >= MAX_KNOWN) this.#lengths.clear();
    this.#lengths.set(text, length);
    return length;
  };
}
