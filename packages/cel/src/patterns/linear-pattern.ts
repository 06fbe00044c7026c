/**
 * Matches regular expressions in time proportional to the length of the text, as Go does: patterns come from users, and JavaScript's engine
 * needs exponential time for some of them. Follows all alternatives at once (Thompson's simulation of an automaton).
 */
import { PatternError } from './pattern-error.ts';
import { type PatternNode, parsePattern } from './pattern-syntax.ts';

/** What an instruction does before the next one: reads a character, checks a position, or continues at several instructions. */
type Instruction =
  | { read: (char: string) => boolean; next: number }
  | { check: (before: string, after: string) => boolean; next: number }
  | { split: readonly number[] }
  | 'match';

/** Repetitions are copies, so this bounds the time that each character takes. */
const MAX_INSTRUCTIONS = 20_000;

/** Nodes of the syntax that are compiled, copies included. Some, such as `()`, need no instruction. */
const MAX_COMPILED_NODES = 5 * MAX_INSTRUCTIONS;

/**
 * Steps that matches may take. `test` takes one step for each character and, for a transition that is not known yet, `NEW_STATE_STEPS` for
 * each instruction that it reaches. `findAll` takes one for each instruction that it reaches at a character.
 */
export type MatchBudget = { steps: number };
const NEW_STATE_STEPS = 4;

/** A state of the deterministic automaton of the pattern. States and transitions are computed when a text first needs them, and kept. */
type State = {
  /** The instructions that come next. */
  readonly threads: readonly number[];
  /** The kind of the last character (`kindOf`), on which checks such as `\b` depend. */
  readonly before: string;
  /** The known transitions, by the next character; '' for the end of the text. */
  readonly next: Map<string, State | 'match'>;
};

/** Maximum number of transitions that are kept. When it is exceeded, all are dropped: a text may have thousands of different characters. */
const MAX_TRANSITIONS = 10_000;

/** A possible match: the next instruction, and the index at which the match starts. */
type Thread = { at: number; start: number };

export class LinearPattern {
  readonly #program: Instruction[] = [];
  #compiledNodes = 0;
  readonly #start: number;
  readonly #states = new Map<string, State>();
  #transitions = 0;

  /** Throws `PatternError` for a pattern that Go rejects, or that is too large. */
  constructor(pattern: string) {
    this.#start = this.#compile(parsePattern(pattern), this.#add('match'));
  }

  /** The number of instructions. */
  get size(): number {
    return this.#program.length;
  }

  /** Whether any part of the text matches. Without steps that are left, none does. */
  test(text: string, budget: MatchBudget = { steps: Infinity }): boolean {
    let state = this.#stateOf(new Set(), '');
    for (const char of text) {
      const next = this.#after(state, char, budget);
      if (next === undefined || next === 'match') return next === 'match';
      state = next;
    }
    return this.#after(state, '', budget) === 'match';
  }

  /** Returns the state after a character; '' stands for the end of the text. Returns undefined if the budget has no steps left. */
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

  /** Returns the state with these instructions after a character; always the same object while it is kept. */
  #stateOf(threads: ReadonlySet<number>, char: string): State {
    const before = kindOf(char);
    const sorted = [...threads].sort((a, b) => a - b);
    const key = `${before} ${sorted}`;
    const state = this.#states.get(key) ?? { threads: sorted, before, next: new Map() };
    this.#states.set(key, state);
    return state;
  }

  /**
   * Returns the matches in the text, as Go does: each is the leftmost one and, of several at the same index, the one that alternatives and
   * repetitions prefer. Stops when the budget has no steps left.
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

  /** Finds the first match from an index on. It follows all alternatives at the same time, preferred ones first (Pike's algorithm). */
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

  /** Advances all threads by one character. `match` is the start of a complete match. Less preferred threads are then dropped. */
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

  /** Returns the reading instructions that can be reached without reading, or `undefined` if the match is complete. */
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

  /** Returns where the instructions for a node start. They continue at `next`. */
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

/** Returns the successors of the instructions that read the character. None reads '', the end of the text. */
function readers(reading: readonly { read: (char: string) => boolean; next: number }[], char: string): Set<number> {
  return new Set(char === '' ? [] : reading.filter(({ read }) => read(char)).map(({ next }) => next));
}

/** Returns a representative of a character: the checks of positions, such as `^` and `\b`, have the same result for both. */
const kindOf = (char: string): string => (char === '' || char === '\n' ? char : /^\w$/.test(char) ? 'a' : ' ');

const tooLarge = () => new PatternError('expression nests repetitions too deeply');
