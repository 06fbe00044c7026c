/** Finds duplicate fields, which `JSON.parse` does not report, and reports syntax errors in the words of Go's encoding/json. */
import type { JsonPath } from '@podwright/kube-schema';
import { MAX_VALUES, tooManyValues } from './check-values.ts';

const MAX_DUPLICATES = 100;
/** Maximum nesting depth, as in Go's encoding/json. */
const MAX_DEPTH = 10_000;

const SPACE = /[ \t\r\n]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const STRING_PART = /[^"\\\u0000-\u001f]*/y;

/** A JSON syntax error, worded as in Go's encoding/json. */
export class JsonSyntaxError extends Error {}

/** A JSON list or object being scanned. */
type Level = {
  /** The field names of an object scanned so far; undefined for lists. */
  names: Set<string> | undefined;
  /** The field name or list index being scanned. */
  step: string | number;
  isEmpty: boolean;
};

/**
 * Returns the paths of up to 100 duplicate fields. Throws `JsonSyntaxError` if the text is not valid JSON, and 413 as soon as it has too
 * many values. Not recursive.
 */
export function scanJson(text: string): JsonPath[] {
  return new JsonScanner(text).scan();
}

class JsonScanner {
  readonly #text: string;
  readonly #levels: Level[] = [];
  readonly #duplicates: JsonPath[] = [];
  #at = 0;
  #values = 0;

  constructor(text: string) {
    this.#text = text;
  }

  scan(): JsonPath[] {
    this.#value();
    for (let level = this.#levels.at(-1); level !== undefined; level = this.#levels.at(-1)) this.#goOn(level);
    if (this.#next() !== undefined) throw this.#unexpected('after top-level value');
    return this.#duplicates;
  }

  /** Scans a scalar, or the beginning of a list or object. */
  #value(): void {
    this.#values += 1;
    if (this.#values > MAX_VALUES) throw tooManyValues();
    const begin = this.#next();
    if (begin === '{' || begin === '[') {
      this.#at += 1;
      this.#levels.push({ names: begin === '{' ? new Set() : undefined, step: -1, isEmpty: true });
      if (this.#levels.length > MAX_DEPTH) throw new JsonSyntaxError('exceeded max depth');
    } else if (begin === '"') this.#string();
    else if (begin !== undefined && /[-\d]/.test(begin)) this.#number();
    else if (begin !== undefined && 'tfn'.includes(begin)) this.#literal(begin);
    else throw this.#unexpected('looking for beginning of value');
  }

  /** Scans the next element of the innermost list or the next field of the innermost object, or its closing bracket. */
  #goOn(level: Level): void {
    const isObject = level.names !== undefined;
    const next = this.#next();
    if (next === (isObject ? '}' : ']')) {
      this.#at += 1;
      this.#levels.pop();
      return;
    }
    if (!level.isEmpty) {
      if (next !== ',') throw this.#unexpected(isObject ? 'after object key:value pair' : 'after array element');
      this.#at += 1;
    }
    level.isEmpty = false;
    if (isObject) this.#name(level);
    else level.step = (level.step as number) + 1;
    this.#value();
  }

  #name(level: Level): void {
    if (this.#next() !== '"') throw this.#unexpected('looking for beginning of object key string');
    const name = this.#string();
    level.step = name;
    if (level.names!.has(name) && this.#duplicates.length < MAX_DUPLICATES)
      this.#duplicates.push(this.#levels.map(({ step }) => step));
    level.names!.add(name);
    if (this.#next() !== ':') throw this.#unexpected('after object key');
    this.#at += 1;
  }

  #string(): string {
    const begin = this.#at;
    this.#at += 1;
    for (;;) {
      this.#skip(STRING_PART);
      const stop = this.#text[this.#at];
      if (stop === '"') break;
      if (stop !== '\\') throw this.#unexpected('in string literal');
      this.#escape();
    }
    this.#at += 1;
    const written = this.#text.slice(begin, this.#at);
    return written.includes('\\') ? (JSON.parse(written) as string) : written.slice(1, -1);
  }

  #escape(): void {
    this.#at += 1;
    const kind = this.#text[this.#at];
    if (kind === undefined || !'"\\/bfnrtu'.includes(kind)) throw this.#unexpected('in string escape code');
    this.#at += 1;
    if (kind !== 'u') return;
    for (const end = this.#at + 4; this.#at < end; this.#at += 1)
      if (!/[\da-fA-F]/.test(this.#text[this.#at] ?? '')) throw this.#unexpected('in \\u hexadecimal character escape');
  }

  #number(): void {
    const begin = this.#at;
    this.#skip(NUMBER);
    if (this.#at > begin) return;
    this.#at += 1; // a sign without digits
    throw this.#unexpected('in numeric literal');
  }

  #literal(begin: string): void {
    const literal = { t: 'true', f: 'false', n: 'null' }[begin]!;
    for (const letter of literal) {
      if (this.#text[this.#at] !== letter) throw this.#unexpected(`in literal ${literal} (expecting '${letter}')`);
      this.#at += 1;
    }
  }

  /** Returns the next non-whitespace character, or undefined at the end of the text. */
  #next(): string | undefined {
    this.#skip(SPACE);
    return this.#text[this.#at];
  }

  #skip(pattern: RegExp): void {
    pattern.lastIndex = this.#at;
    this.#at += pattern.exec(this.#text)?.[0].length ?? 0;
  }

  #unexpected(where: string): JsonSyntaxError {
    const found = this.#text.codePointAt(this.#at);
    if (found === undefined) return new JsonSyntaxError('unexpected end of JSON input');
    return new JsonSyntaxError(`invalid character ${quotedCharacter(String.fromCodePoint(found))} ${where}`);
  }
}

/** Formats a character in single quotes for a syntax error, like Go's encoding/json (`quoteChar`). */
function quotedCharacter(character: string): string {
  if (character === "'") return String.raw`'\''`;
  if (character === '"') return `'"'`;
  return `'${JSON.stringify(character).slice(1, -1)}'`;
}
