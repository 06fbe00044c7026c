import { LinearPattern, type MatchBudget } from './linear-pattern.ts';

/** Longer texts match no pattern. This bounds the time of a match. */
const MAX_TEXT_LENGTH = 100_000;

/** Number of steps for all matches of one object, which take at most half a second in total. Once they are used up, nothing matches. */
const MAX_STEPS = 4_000_000;

/** A cache of compiled patterns that all come from the same kind of source. */
export class Patterns {
  readonly #compiled = new Map<string, LinearPattern | undefined>();

  /** Returns a new budget for matching the values of one object. */
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
