import { LinearPattern, type MatchBudget } from './linear-pattern.ts';

/** Longer texts match no pattern. This bounds the time of a match. */
const MAX_TEXT_LENGTH = 100_000;

/**
 * Maximum number of steps for matching all values of one object, which take at most half a second. Once they are used up, no text matches.
 */
const MAX_STEPS = 4_000_000;

/** A cache of compiled patterns, which also limits the work of matching them. */
export class Patterns {
  readonly #compiled = new Map<string, LinearPattern | undefined>();

  /** Returns a new step budget for matching all values of one object. */
  budget(): MatchBudget {
    return { steps: MAX_STEPS };
  }

  /**
   * Whether a text matches a pattern. Any text matches a pattern that cannot be compiled; new definitions with such a pattern are rejected.
   */
  matches(pattern: string, text: string, budget: MatchBudget): boolean {
    const known = this.#compiled.has(pattern) ? this.#compiled.get(pattern) : compile(pattern);
    this.#compiled.set(pattern, known);
    return known === undefined || (text.length <= MAX_TEXT_LENGTH && known.test(text, budget));
  }
}

function compile(pattern: string): LinearPattern | undefined {
  try {
    return new LinearPattern(pattern);
  } catch {
    return undefined;
  }
}
