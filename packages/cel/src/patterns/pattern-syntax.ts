/** The syntax of Go's regular expressions (regexp/syntax), without capturing groups. */
import { PatternError } from './pattern-error.ts';

export type PatternNode =
  | { kind: 'char'; matches: (char: string) => boolean }
  | { kind: 'position'; holds: (before: string, after: string) => boolean }
  | { kind: 'sequence'; parts: readonly PatternNode[] }
  | { kind: 'choice'; options: readonly PatternNode[] }
  | { kind: 'repeat'; part: PatternNode; min: number; max: number; isLazy: boolean };

/** `isUngreedy` swaps the meanings of greedy and lazy repetition operators. */
type Flags = { ignoresCase: boolean; multiline: boolean; dotAll: boolean; isUngreedy: boolean };

const REPETITION = /^(?:[*+?]|\{\d+(?:,\d*)?\})\??/;
/** Maximum repeat count, and maximum product of the counts of nested repetitions, as in Go. */
const MAX_REPEAT = 1000;
/** Maximum pattern length in characters, which bounds the parsing time. */
const MAX_LENGTH = 20_000;
const MAX_REPETITION_LENGTH = 24;
const MAX_DEPTH = 200;

const isWord = (char: string) => /^\w$/.test(char);

/** Parses a pattern. Throws `PatternError`. */
export function parsePattern(pattern: string): PatternNode {
  if (pattern.length > MAX_LENGTH) throw fault('expression too large', '');
  const parser = new PatternParser(pattern);
  const node = parser.choice({ ignoresCase: false, multiline: false, dotAll: false, isUngreedy: false }, 0);
  if (!parser.isAtEnd) throw new PatternError(`error parsing regexp: unexpected ): \`${pattern}\``);
  return node;
}

class PatternParser {
  readonly #chars: readonly string[];
  #index = 0;
  /** For each node, the maximum number of copies that nested repetitions make of any part of it. */
  readonly #copies = new Map<PatternNode, number>();

  constructor(pattern: string) {
    this.#chars = [...pattern];
  }

  get isAtEnd(): boolean {
    return this.#index >= this.#chars.length;
  }

  choice(flags: Flags, depth: number): PatternNode {
    if (depth > MAX_DEPTH) throw fault('expression nests too deeply', '');
    const own = { ...flags };
    const options = [this.#sequence(own, depth)];
    while (this.#skip('|')) options.push(this.#sequence(own, depth));
    return options.length === 1 ? options[0]! : { kind: 'choice', options };
  }

  /** Parses a sequence of regular expression terms. Flags set within a group, such as `(?i)`, apply until the end of the group. */
  #sequence(flags: Flags, depth: number): PatternNode {
    const parts: PatternNode[] = [];
    while (!this.isAtEnd && this.#peek() !== '|' && this.#peek() !== ')') {
      const atom = this.#atom(flags, depth);
      if (atom !== undefined) parts.push(this.#repeated(atom, flags));
    }
    return { kind: 'sequence', parts };
  }

  #atom(flags: Flags, depth: number): PatternNode | undefined {
    const char = this.#next();
    switch (char) {
      case '(':
        return this.#group(flags, depth);
      case '[':
        return this.#class(flags);
      case '.':
        return { kind: 'char', matches: flags.dotAll ? () => true : (one) => one !== '\n' };
      case '^':
        return at((before) => before === '' || (flags.multiline && before === '\n'));
      case '$':
        return at((_, after) => after === '' || (flags.multiline && after === '\n'));
      case '\\':
        return this.#escape(flags);
      case '*':
      case '+':
      case '?':
        throw fault('missing argument to repetition operator', char);
      default:
        return ofClass(escaped(char), flags);
    }
  }

  #group(flags: Flags, depth: number): PatternNode | undefined {
    if (this.#skip('?')) {
      const named = this.#match(/^P?<\w+>/);
      if (named === undefined) {
        const [, on = '', off = '', end] = /^([imsU]*)(?:-([imsU]+))?([:)])/.exec(this.#rest()) ?? [];
        if (end === undefined) throw fault('invalid or unsupported Perl syntax', `(?${this.#rest().slice(0, 1)}`);
        this.#match(/^[^:)]*[:)]/);
        const changed = end === ')' ? flags : { ...flags };
        for (const [text, value] of [
          [on, true],
          [off, false],
        ] as const) {
          if (text.includes('i')) changed.ignoresCase = value;
          if (text.includes('m')) changed.multiline = value;
          if (text.includes('s')) changed.dotAll = value;
          if (text.includes('U')) changed.isUngreedy = value;
        }
        return end === ')' ? undefined : this.#closed(changed, depth);
      }
    }
    return this.#closed(flags, depth);
  }

  #closed(flags: Flags, depth: number): PatternNode {
    const inner = this.choice(flags, depth + 1);
    if (!this.#skip(')')) throw fault('missing closing )', this.#chars.join(''));
    return inner;
  }

  #repeated(atom: PatternNode, { isUngreedy }: Flags): PatternNode {
    const text = this.#repetition();
    if (text === undefined) return atom;
    const nested = this.#repetition();
    if (nested !== undefined) throw fault('invalid nested repetition operator', `${text}${nested}`);
    const [, from, comma, to] = /^\{(\d+)(,?)(\d*)\}/.exec(text) ?? [];
    const simple = { '*': [0, Infinity], '+': [1, Infinity], '?': [0, 1] }[text[0]!];
    const min = simple?.[0] ?? Number(from);
    const max = simple?.[1] ?? (comma === '' ? min : to === '' ? Infinity : Number(to));
    const isTooLarge = min > MAX_REPEAT || (max !== Infinity && max > MAX_REPEAT);
    if (isTooLarge || min > max) throw fault('invalid repeat count', text);
    const isLazy = (text.length > 1 && text.endsWith('?')) !== isUngreedy;
    const node: PatternNode = { kind: 'repeat', part: atom, min, max, isLazy };
    if (this.#copiesOf(node) > MAX_REPEAT) throw fault('invalid repeat count', text);
    return node;
  }

  #repetition(): string | undefined {
    return '*+?{'.includes(this.#peek() || ' ') ? this.#match(REPETITION, MAX_REPETITION_LENGTH) : undefined;
  }

  #copiesOf(node: PatternNode): number {
    const known = this.#copies.get(node);
    if (known !== undefined) return known;
    const parts = node.kind === 'sequence' ? node.parts : node.kind === 'choice' ? node.options : [];
    let copies = parts.reduce((most, part) => Math.max(most, this.#copiesOf(part)), 1);
    if (node.kind === 'repeat' && node.max > 0)
      copies = Math.max(1, node.max === Infinity ? node.min : node.max) * this.#copiesOf(node.part);
    this.#copies.set(node, copies);
    return copies;
  }

  #escape(flags: Flags): PatternNode {
    const { isAtEnd } = this;
    if (isAtEnd) throw fault('trailing backslash at end of expression', '');
    const quoted = this.#match(/^Q.*?(?:\\E|$)/s);
    if (quoted !== undefined) {
      const parts = [...quoted.slice(1).replace(/\\E$/, '')].map((char) => ofClass(escaped(char), flags));
      return { kind: 'sequence', parts };
    }
    const position = POSITIONS[this.#peek()];
    if (position === undefined) return ofClass(this.#escapedClass(), flags);
    this.#index++;
    return at(position);
  }

  /** Converts an escape sequence, whose backslash has already been read, to JavaScript syntax. */
  #escapedClass(): string {
    const hex = this.#match(/^x(?:[\da-fA-F]{2}|\{[\da-fA-F]{1,6}\})/);
    if (hex !== undefined) return `\\u{${hex.replace(/[x{}]/g, '')}}`;
    const property = this.#match(/^[pP](?:\{\^?\w+\}|\w)/);
    if (property !== undefined) return unicodeClass(property);
    const char = this.#next();
    if (char === 's') return SPACE;
    if (char === 'S') return NO_SPACE;
    if (/^[dDwWnrtfv]$/.test(char)) return `\\${char}`;
    if (char === 'a') return '\\u0007';
    if (/^[0-7]$/.test(char))
      return `\\u{${Number.parseInt(`${char}${this.#match(/^[0-7]{0,2}/) ?? ''}`, 8).toString(16)}}`;
    if (/^[\w]$/.test(char)) throw fault('invalid escape sequence', `\\${char}`);
    return escaped(char);
  }

  #class(flags: Flags): PatternNode {
    const isNegated = this.#skip('^');
    let text = '';
    const complements: CharNode[] = [];
    for (let first = true; first || this.#peek() !== ']'; first = false) {
      if (this.isAtEnd) throw fault('missing closing ]', this.#chars.join(''));
      const named = this.#peek() === '[' ? this.#match(/^\[:\^?\w+:\]/) : undefined;
      if (named?.startsWith('[:^')) complements.push(without(ofClass(posixClass(named), flags)));
      else if (named !== undefined) text += posixClass(named);
      else {
        const char = this.#next();
        const isRange = char === '-' && !first && this.#peek() !== ']';
        text += char === '\\' ? this.#escapedClass() : isRange ? '-' : escaped(char);
      }
    }
    this.#index++;
    const found = anyOf([...(text === '' ? [] : [ofClass(text, flags)]), ...complements]);
    return isNegated ? without(found) : found;
  }

  #peek = (): string => this.#chars[this.#index] ?? '';
  #next = (): string => this.#chars[this.#index++] ?? '';
  #rest = (length = 1000): string => this.#chars.slice(this.#index, this.#index + length).join('');

  #skip(char: string): boolean {
    if (this.#peek() !== char) return false;
    this.#index++;
    return true;
  }

  #match(expression: RegExp, length?: number): string | undefined {
    const found = expression.exec(this.#rest(length))?.[0];
    if (found !== undefined) this.#index += [...found].length;
    return found;
  }
}

type CharNode = Extract<PatternNode, { kind: 'char' }>;

const without = ({ matches }: CharNode): CharNode => ({ kind: 'char', matches: (char) => !matches(char) });

const anyOf = (options: readonly CharNode[]): CharNode =>
  options.length === 1
    ? options[0]!
    : { kind: 'char', matches: (char) => options.some(({ matches }) => matches(char)) };

const at = (holds: (before: string, after: string) => boolean): PatternNode => ({ kind: 'position', holds });

const POSITIONS: Readonly<Record<string, (before: string, after: string) => boolean>> = {
  A: (before) => before === '',
  z: (_, after) => after === '',
  b: (before, after) => isWord(before) !== isWord(after),
  B: (before, after) => isWord(before) === isWord(after),
};

/** Unlike in JavaScript, `\s` in Go matches neither the vertical tab nor non-ASCII spaces. */
const SPACE = '\\t\\n\\f\\r ';
const NO_SPACE = '\\u{0}-\\u{8}\\u{B}\\u{E}-\\u{1F}\\u{21}-\\u{10FFFF}';

const POSIX: Readonly<Record<string, string>> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  ascii: '\\u{0}-\\u{7F}',
  blank: '\\t ',
  cntrl: '\\u{0}-\\u{1F}\\u{7F}',
  digit: '0-9',
  graph: '!-~',
  lower: 'a-z',
  print: ' -~',
  punct: '!-\\/:-@\\[-`\\{-~',
  space: '\\t\\n\\v\\f\\r ',
  upper: 'A-Z',
  word: '0-9A-Za-z_',
  xdigit: '0-9A-Fa-f',
};

/** Returns the characters of a class such as `[:alpha:]`, or of the one that a class such as `[:^alpha:]` negates. */
function posixClass(text: string): string {
  const found = POSIX[text.slice(text[2] === '^' ? 3 : 2, -2)];
  if (found === undefined) throw fault('invalid character class range', text);
  return found;
}

function unicodeClass(text: string): string {
  const name = text.replace(/^[pP]\{?\^?|\}$/g, '');
  const isNegated = text.startsWith('P') !== text.includes('^');
  for (const property of [name, `Script=${name}`]) {
    const found = `\\${isNegated ? 'P' : 'p'}{${property}}`;
    if (compiled(`[${found}]`, 'u') !== undefined) return found;
  }
  throw fault('invalid character class range', `\\${text}`);
}

/** Escapes a character for a class of a JavaScript expression with the flag `u`. */
const escaped = (char: string): string => `\\u{${char.codePointAt(0)!.toString(16)}}`;

function ofClass(text: string, { ignoresCase }: Flags): CharNode {
  const expression = compiled(`^[${text}]$`, ignoresCase ? 'iu' : 'u');
  if (expression === undefined) throw fault('invalid character class range', text);
  return { kind: 'char', matches: (char) => expression.test(char) };
}

function compiled(source: string, flags: string): RegExp | undefined {
  try {
    return new RegExp(source, flags);
  } catch {
    return undefined;
  }
}

const fault = (problem: string, part: string): PatternError =>
  new PatternError(`error parsing regexp: ${problem}${part === '' ? '' : `: \`${part}\``}`);
