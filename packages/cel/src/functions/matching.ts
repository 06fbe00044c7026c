/** Regular expression functions. Matching steps count towards the evaluation's step limit (`Evaluation`). */
import { LinearPattern } from '../patterns/linear-pattern.ts';
import { PatternError } from '../patterns/pattern-error.ts';
import { CelError, ValueList } from '../values/values.ts';
import { type Evaluation, type FunctionTable, overload, patternCost } from './overload.ts';

const MAX_PATTERNS = 64;
/** Steps charged for each character of a pattern being compiled. */
const COMPILE_STEPS = 20;

/** A cache of compiled patterns that evicts the oldest one first. */
class PatternCache {
  readonly #compiled = new Map<string, LinearPattern>();

  /** Returns a compiled pattern. Throws `CelError` for a pattern that Go rejects. */
  compile(pattern: string, work: Evaluation, prefix = ''): LinearPattern {
    const known = this.#compiled.get(pattern);
    if (known !== undefined) return known;
    work.spend(pattern.length * COMPILE_STEPS);
    const compiled = compilePattern(pattern, prefix);
    work.spend(compiled.size);
    if (this.#compiled.size >= MAX_PATTERNS) this.#compiled.delete(this.#compiled.keys().next().value!);
    this.#compiled.set(pattern, compiled);
    return compiled;
  }
}

function compilePattern(pattern: string, prefix: string): LinearPattern {
  try {
    return new LinearPattern(pattern);
  } catch (error) {
    if (error instanceof PatternError) throw new CelError(`${prefix}${error.message}`);
    throw error;
  }
}

/** Returns the functions `matches`, `find` and `findAll`. */
export function patternFunctions(patterns = new PatternCache()): FunctionTable {
  const match = (text: string, pattern: string, work: Evaluation): boolean => {
    const compiled = patterns.compile(pattern, work);
    const budget = { steps: work.remaining };
    const isMatch = compiled.test(text, budget);
    work.spend(work.remaining - budget.steps);
    return isMatch;
  };
  const findAll = (text: string, pattern: string, { limit, work }: { limit: number; work: Evaluation }): string[] => {
    const compiled = patterns.compile(pattern, work, 'Illegal regex: ');
    const budget = { steps: work.remaining };
    const found = compiled.findAll(text, { limit, budget });
    work.spend(work.remaining - budget.steps);
    return found;
  };
  return {
    matches: [
      overload('(string, string) -> bool', match, patternCost),
      overload('string.(string) -> bool', match, patternCost),
    ],
    find: [
      overload(
        'string.(string) -> string',
        (text: string, pattern: string, work: Evaluation) => findAll(text, pattern, { limit: 1, work })[0] ?? '',
        patternCost,
      ),
    ],
    findAll: [
      overload(
        'string.(string) -> list(string)',
        (text: string, pattern: string, work: Evaluation) =>
          new ValueList(findAll(text, pattern, { limit: Infinity, work })),
        patternCost,
      ),
      overload(
        'string.(string, int) -> list(string)',
        (...[text, pattern, count, work]: [string, string, bigint, Evaluation]) =>
          new ValueList(findAll(text, pattern, { limit: count < 0n ? Infinity : Number(count), work })),
        patternCost,
      ),
    ],
  };
}
