import { LinearPattern, type MatchBudget } from './linear-pattern.ts';

/** Longer texts do not match any pattern, which bounds the time of a match. */
const MAX_TEXT_LENGTH = 100_000;

/** Steps for all matches of an object together, which take at most half a second. A text for which no steps are left does not match. */
const MAX_STEPS = 4_000_000;

/** The compiled patterns of a kind. */
export class Patterns {
  readonly #compiled = new Map<string, LinearPattern | undefined>();

  /** Returns the budget of an object. */
  budget(): MatchBudget {
    return { steps: MAX_STEPS };
  }

  /** Whether a text matches a pattern. A pattern that cannot be compiled allows any text; new definitions with such a pattern are rejected. */
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
