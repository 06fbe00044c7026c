/**
 * Matches regular expressions in time proportional to the length of the text, as Go does: patterns come from users, and JavaScript's engine
 * takes exponential time for some of them. Follows all alternatives in parallel (Thompson's NFA simulation).
 */
import { PatternError } from './pattern-error.ts';
import { type PatternNode, parsePattern } from './pattern-syntax.ts';

/** An instruction reads a character, checks a position, branches to several instructions, or ends a match. */
type Instruction =
  | { read: (char: string) => boolean; next: number }
  | { check: (before: string, after: string) => boolean; next: number }
  | { split: readonly number[] }
  | 'match';

/** Maximum number of instructions. Repetitions are unrolled, so this bounds the time per character. */
const MAX_INSTRUCTIONS = 20_000;

/** Maximum number of syntax nodes that are compiled, including copies. Some nodes, such as `()`, produce no instruction. */
const MAX_COMPILED_NODES = 5 * MAX_INSTRUCTIONS;

/**
 * Number of steps that matching may take. `test` takes one step per character and, for each transition that has not been computed yet,
 * `NEW_STATE_STEPS` per instruction visited. `findAll` takes one step per instruction visited at a character.
 */
export type MatchBudget = { steps: number };
const NEW_STATE_STEPS = 4;

/** A state of the pattern's deterministic automaton. States and transitions are computed lazily and cached. */
type State = {
  /** The instructions at which to continue with the next character. */
  readonly threads: readonly number[];
  /** The class of the previous character (`kindOf`), which determines the result of checks such as `\b`. */
  readonly before: string;
  /** The transitions computed so far, by next character; '' is the end of the text. */
  readonly next: Map<string, State | 'match'>;
};

/**
 * Maximum number of cached transitions, because a text may have thousands of different characters. When it is exceeded, all are discarded.
 */
const MAX_TRANSITIONS = 10_000;

/** A match in progress: the next instruction, and the index where the match starts. */
type Thread = { at: number; start: number };

export class LinearPattern {
  readonly #program: Instruction[] = [];
  #compiledNodes = 0;
  readonly #start: number;
  readonly #states = new Map<string, State>();
  #transitions = 0;

  /** Throws `PatternError` for a pattern that is too large or that Go rejects. */
  constructor(pattern: string) {
    this.#start = this.#compile(parsePattern(pattern), this.#add('match'));
  }

  /** Number of instructions of the compiled pattern. */
  get size(): number {
    return this.#program.length;
  }

  /** Whether the pattern matches any part of the text. Returns false if the budget runs out. */
  test(text: string, budget: MatchBudget = { steps: Infinity }): boolean {
    let state = this.#stateOf(new Set(), '');
    for (const char of text) {
      const next = this.#after(state, char, budget);
      if (next === undefined || next === 'match') return next === 'match';
      state = next;
    }
    return this.#after(state, '', budget) === 'match';
  }

  /**
   * Returns the state that the automaton enters from `state` when it reads `char`; '' is the end of the text. Returns `undefined` if the
   * budget runs out.
   */
  #after(state: State, char: string, budget: MatchBudget): State | 'match' | undefined {
    budget.steps--;
    if (budget.steps < 0) return undefined;
    const known = state.next.get(char);
    if (known !== undefined) return known;
    const reached = this.#closure([...state.threads, this.#start], { before: state.before, after: char, budget });
    if (budget.steps < 0) return undefined;
    const next = reached === undefined ? 'match' : this.#stateOf(readers(reached, char), char);
    if (++this.#transitions > MAX_TRANSITIONS) {
      this.#states.clear();
      this.#transitions = 0;
      state.next.clear();
    }
    state.next.set(char, next);
    return next;
  }

  /**
   * Returns the automaton's state for these instructions and this preceding character. Returns the same object each time, as long as it is
   * cached.
   */
  #stateOf(threads: ReadonlySet<number>, char: string): State {
    const before = kindOf(char);
    const sorted = [...threads].sort((a, b) => a - b);
    const key = `${before} ${sorted}`;
    const state = this.#states.get(key) ?? { threads: sorted, before, next: new Map() };
    this.#states.set(key, state);
    return state;
  }

  /**
   * Returns the matches in the text, as Go does: each is the leftmost one and, of several at the same index, the one preferred by
   * alternatives and repetitions. Stops when the budget runs out.
   */
  findAll(text: string, { limit, budget }: { limit: number; budget: MatchBudget }): string[] {
    const chars = [...text];
    const found: string[] = [];
    let lastEnd = -1;
    for (let from = 0; from <= chars.length && found.length < limit; ) {
      const match = this.#find(chars, from, budget);
      if (match === undefined) break;
      const [start, end] = match;
      if (end > start || start !== lastEnd) found.push(chars.slice(start, end).join(''));
      lastEnd = end;
      from = end > start ? end : end + 1;
    }
    return found;
  }

  /** Finds the first match at or after an index. Follows all alternatives in parallel, preferred ones first (Pike's algorithm). */
  #find(chars: readonly string[], from: number, budget: MatchBudget): [start: number, end: number] | undefined {
    let threads: Thread[] = [];
    let found: [number, number] | undefined;
    for (let index = from; index <= chars.length && budget.steps >= 0; index++) {
      if (found === undefined) threads.push({ at: this.#start, start: index });
      if (threads.length === 0) break;
      const { next, match } = this.#step(threads, [chars[index - 1] ?? '', chars[index] ?? ''], budget);
      if (match !== undefined) found = [match, index];
      threads = next;
    }
    return budget.steps < 0 ? undefined : found;
  }

  /**
   * Advances all threads by one character. If a thread completes a match, less preferred threads are dropped, and `match` is the index
   * where the match starts.
   */
  #step(threads: readonly Thread[], [before, after]: readonly [string, string], budget: MatchBudget) {
    const seen = new Set<number>();
    const next: Thread[] = [];
    for (const { at: first, start } of threads) {
      const waiting = [first];
      for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
        budget.steps--;
        if (seen.has(at)) continue;
        seen.add(at);
        const instruction = this.#program[at]!;
        if (instruction === 'match') return { next, match: start };
        if ('split' in instruction) waiting.push(...instruction.split.toReversed());
        else if ('check' in instruction) {
          if (instruction.check(before, after)) waiting.push(instruction.next);
        } else if (after !== '' && instruction.read(after)) next.push({ at: instruction.next, start });
      }
    }
    return { next, match: undefined };
  }

  /** Returns the character-reading instructions reachable without consuming a character, or `undefined` if a match is complete. */
  #closure(from: readonly number[], { before, after, budget }: { before: string; after: string; budget: MatchBudget }) {
    const seen = new Set<number>();
    const reading: { read: (char: string) => boolean; next: number }[] = [];
    const waiting = [...from];
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      budget.steps -= NEW_STATE_STEPS;
      if (seen.has(at)) continue;
      seen.add(at);
      const instruction = this.#program[at]!;
      if (instruction === 'match') return undefined;
      if ('read' in instruction) reading.push(instruction);
      else if ('split' in instruction) waiting.push(...instruction.split);
      else if (instruction.check(before, after)) waiting.push(instruction.next);
    }
    return reading;
  }

  #add(instruction: Instruction): number {
    if (this.#program.length >= MAX_INSTRUCTIONS) throw tooLarge();
    return this.#program.push(instruction) - 1;
  }

  /** Compiles a node into instructions that continue at `next`. Returns where they start. */
  #compile(node: PatternNode, next: number): number {
    if (++this.#compiledNodes > MAX_COMPILED_NODES) throw tooLarge();
    switch (node.kind) {
      case 'char':
        return this.#add({ read: node.matches, next });
      case 'position':
        return this.#add({ check: node.holds, next });
      case 'sequence':
        return node.parts.reduceRight((after, part) => this.#compile(part, after), next);
      case 'choice':
        return this.#add({ split: node.options.map((option) => this.#compile(option, next)) });
      case 'repeat':
        return this.#repeat(node, next);
    }
  }

  #repeat({ part, min, max, isLazy }: Extract<PatternNode, { kind: 'repeat' }>, next: number): number {
    let after = next;
    const inOrder = (repeated: number) => (isLazy ? [next, repeated] : [repeated, next]);
    if (max === Infinity) {
      const split: number[] = [];
      after = this.#add({ split });
      split.push(...inOrder(this.#compile(part, after)));
    } else
      for (let count = min; count < max; count++) after = this.#add({ split: inOrder(this.#compile(part, after)) });
    for (let count = 0; count < min; count++) after = this.#compile(part, after);
    return after;
  }
}

/** Returns the successors of the instructions that accept the character. No instruction accepts '', the end of the text. */
function readers(reading: readonly { read: (char: string) => boolean; next: number }[], char: string): Set<number> {
  return new Set(char === '' ? [] : reading.filter(({ read }) => read(char)).map(({ next }) => next));
}

/**
 * Returns a character that represents the class of `char`: position checks such as `^` and `\b` have the same result for all characters of
 * a class.
 */
const kindOf = (char: string): string => (char === '' || char === '\n' ? char : /^\w$/.test(char) ? 'a' : ' ');

const tooLarge = () => new PatternError('expression nests repetitions too deeply');
