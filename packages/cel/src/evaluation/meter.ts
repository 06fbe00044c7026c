import type { Evaluation } from '../functions/overload.ts';
import { charactersOf } from '../values/values.ts';

/** Thrown when an evaluation exceeds its cost limit. Unlike `CelError`, it is never absorbed by an operator. */
export class CostExceeded extends Error {
  constructor() {
    super('operation cancelled: actual cost limit exceeded');
  }
}

/**
 * Minimum length, in UTF-16 code units, of strings whose character counts are cached, because counting the characters takes longer than a
 * step.
 */
const LONG_TEXT = 1000;
const MAX_KNOWN = 16;

/**
 * Bounds an evaluation with two counters. `charge` counts the cost as upstream does. `spend` counts steps of work that upstream's cost
 * underestimates: comparing elements of nested lists, inserting characters, executing instructions of regular expressions.
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

  /** Adds to the cost. Throws `CostExceeded`. */
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
