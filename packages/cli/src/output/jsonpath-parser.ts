/** Parser for kubectl's JSONPath templates (https://kubernetes.io/docs/reference/kubectl/jsonpath/). */
import { PodwrightError } from '@podwright/base';

/** A part of a template: literal text, the values of a path, or a body repeated for each value. */
export type TemplatePart =
  | { type: 'text'; text: string }
  | { type: 'value'; path: PathStep[] }
  | { type: 'range'; path: PathStep[]; body: TemplatePart[] };

/**
 * A step of a path. A quoted field may itself be a path, such as `['metadata.name']`: `names` are the full names, and `paths` are the
 * fallback if there is no field with that name.
 */
export type PathStep =
  | { type: 'fields'; names: string[]; paths?: string[][] }
  | { type: 'wildcard' }
  | { type: 'slices'; slices: Slice[] }
  | { type: 'recursive' }
  | { type: 'filter'; filter: Filter }
  | { type: 'union'; paths: PathStep[][] };

/** Numbers are stored as written and may be negative. `single`: a single index rather than a slice, so `end` is unset. */
export type Slice = { start?: number; end?: number; step?: number; single: boolean };

export type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>=';
export type Operand = { type: 'path'; path: PathStep[] } | { type: 'literal'; value: string | number | boolean };
/** A filter of a list's elements. If `compared` is unset, an element matches if `left` has a value. */
export type Filter = { left: Operand; compared?: { operator: Comparison; right: Operand } };

const MAX_TEMPLATE_LENGTH = 64 << 10;
const MAX_NESTING = 50;

/** Parses a template. Throws an `invalid_argument` error that says where the problem is. */
export function parseTemplate(text: string): TemplatePart[] {
  if (text.length > MAX_TEMPLATE_LENGTH) {
    throw new PodwrightError('invalid_argument', `the template is longer than ${MAX_TEMPLATE_LENGTH} characters`);
  }
  return new TemplateParser(text).template();
}

/** Parses a single path, with or without braces and a leading dot: `.metadata.name`, `{.metadata.name}`, `metadata.name`. */
export function parsePath(text: string): PathStep[] {
  const bare = /^\{(.*)\}$/s.exec(text.trim())?.[1] ?? text.trim();
  const parts = parseTemplate(`{${/^[.[$@]/.test(bare) ? bare : `.${bare}`}}`);
  const [part] = parts;
  if (part?.type === 'value' && parts.length === 1) return part.path;
  throw new PodwrightError('invalid_argument', `"${text.slice(0, 80)}" is not one path such as .metadata.name`);
}

/** Creates the path step for quoted field names. A quoted name may itself be a path, with names separated by unescaped dots. */
function namedFields(raw: string[]): PathStep {
  const plain = (text: string) => text.replaceAll(/\\(.)/gs, '$1');
  const paths = raw.map((text) => (text.match(/(?:\\.|[^\\.])+/gs) ?? ['']).map(plain));
  return { type: 'fields', names: raw.map(plain), paths };
}

class TemplateParser {
  readonly #text: string;
  #at = 0;
  #nesting = 0;

  constructor(text: string) {
    this.#text = text;
  }

  template(): TemplatePart[] {
    const parts = this.#parts();
    if (this.#at < this.#text.length) this.#refuse('there is no range for this {end}');
    return parts;
  }

  /** Parses template parts up to the end of the text or the next `{end}`. */
  #parts(): TemplatePart[] {
    const parts: TemplatePart[] = [];
    while (this.#at < this.#text.length) {
      const open = this.#text.indexOf('{', this.#at);
      const end = open < 0 ? this.#text.length : open;
      if (end > this.#at) parts.push({ type: 'text', text: this.#text.slice(this.#at, end) });
      this.#at = end;
      if (open < 0 || this.#peek(/\{\s*end\s*\}/y)) break;
      parts.push(...this.#action());
    }
    return parts;
  }

  /** Parses the contents of a pair of braces. */
  #action(): TemplatePart[] {
    this.#expect(/\{\s*/y, '{');
    if (this.#take(/range(?![\w-])\s*/y) !== undefined) return [this.#range()];
    const parts: TemplatePart[] = [];
    while (this.#take(/\s*\}/y) === undefined) {
      const quoted = this.#quoted();
      if (quoted !== undefined) parts.push({ type: 'text', text: quoted });
      else if (this.#peek(/[.[$@]/y)) parts.push({ type: 'value', path: this.#path(/[}'"]/y) });
      else
        parts.push({ type: 'text', text: this.#expect(/[-+]?\d+(\.\d+)?|true|false/y, 'a path, or text in quotes') });
      this.#take(/\s+/y);
    }
    return parts;
  }

  #range(): TemplatePart {
    if (++this.#nesting > MAX_NESTING) this.#refuse(`ranges are nested deeper than ${MAX_NESTING}`);
    const path = this.#path(/\}/y);
    this.#expect(/\}/y, '}');
    const body = this.#parts();
    this.#expect(/\{\s*end\s*\}/y, '{end}');
    this.#nesting--;
    return { type: 'range', path, body };
  }

  /** Parses the steps of a path until `end` matches; the match is not consumed. */
  #path(end: RegExp): PathStep[] {
    const steps: PathStep[] = [];
    while (this.#at < this.#text.length && !this.#peek(end)) steps.push(...this.#step());
    return steps;
  }

  #step(): PathStep[] {
    // as in kubectl, both `$` and `@` mean the value at hand, even inside a `range`
    if (this.#take(/\s+|[@$]/y) !== undefined) return [];
    if (this.#peek(/\[/y)) return [this.#subscript()];
    this.#expect(/\./y, '.');
    if (this.#take(/\./y) !== undefined) {
      const after = this.#peek(/\[/y) ? [] : this.#named();
      return [{ type: 'recursive' }, ...after];
    }
    return this.#peek(/\[/y) ? [] : this.#named();
  }

  /** Parses a name that follows a dot. With no name, as in `{.}`, the path refers to the current value itself. */
  #named(): PathStep[] {
    if (this.#take(/\*/y) !== undefined) return [{ type: 'wildcard' }];
    const name = this.#take(/(?:\\.|[^\s.,[\](){}$'"=!<>|&*\\@?])+/y);
    return name === undefined ? [] : [{ type: 'fields', names: [name.replaceAll(/\\(.)/g, '$1')] }];
  }

  #subscript(): PathStep {
    this.#expect(/\[\s*/y, '[');
    if (this.#take(/\*\s*\]/y) !== undefined) return { type: 'wildcard' };
    if (this.#take(/\?\(\s*/y) !== undefined) return { type: 'filter', filter: this.#filter() };
    if (this.#peek(/['"]/y)) return namedFields(this.#list(() => this.#raw()!));
    if (this.#peek(/[@.$]/y)) return { type: 'union', paths: this.#list(() => this.#path(/[\s,\]]/y)) };
    return { type: 'slices', slices: this.#list(() => this.#slice()) };
  }

  #list<T>(read: () => T): T[] {
    const items = [read()];
    while (this.#take(/\s*,\s*/y) !== undefined) items.push(read());
    this.#expect(/\s*\]/y, ']');
    return items;
  }

  #slice(): Slice {
    const text = this.#expect(
      /-?\d{1,9}(?![\d:])|(-?\d{1,9})?:(-?\d{1,9})?(:\d{1,9})?/y,
      'an index, a name in quotes or *',
    );
    const [start, end, step] = text.split(':').map((part) => (part === '' ? undefined : Number(part)));
    if (step === 0) this.#refuse('a step of 0 leads nowhere');
    return { start, end, step, single: !text.includes(':') };
  }

  #filter(): Filter {
    if (++this.#nesting > MAX_NESTING) this.#refuse(`filters are nested deeper than ${MAX_NESTING}`);
    const left = this.#operand();
    const operator = this.#take(/\s*(==|!=|<=|>=|<|>)\s*/y)?.trim() as Comparison | undefined;
    const right = operator && this.#operand();
    this.#expect(/\s*\)\s*\]/y, ')]');
    this.#nesting--;
    return { left, ...(operator && { compared: { operator, right: right! } }) };
  }

  #operand(): Operand {
    const quoted = this.#quoted();
    if (quoted !== undefined) return { type: 'literal', value: quoted };
    if (this.#peek(/[@.$[]/y)) return { type: 'path', path: this.#path(/[\s)=!<>]/y) };
    const word = this.#expect(/[-+]?\d+(\.\d+)?|true|false/y, 'a path, a number, true, false or text in quotes');
    return { type: 'literal', value: word === 'true' ? true : word === 'false' ? false : Number(word) };
  }

  /** Parses quoted text, resolving kubectl's escapes. */
  #quoted(): string | undefined {
    const escapes: Record<string, string> = { n: '\n', t: '\t', r: '\r' };
    return this.#raw()?.replaceAll(/\\(.)/gs, (_, character: string) => escapes[character] ?? character);
  }

  /** Parses quoted text without resolving escapes. */
  #raw(): string | undefined {
    if (!this.#peek(/['"]/y)) return undefined;
    return this.#expect(/"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'/sy, 'the end of the quotes').slice(1, -1);
  }

  #peek(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    return pattern.test(this.#text);
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match === null) return undefined;
    this.#at += match[0].length;
    return match[0];
  }

  #expect(pattern: RegExp, what: string): string {
    return this.#take(pattern) ?? this.#refuse(`${what} is expected`);
  }

  #refuse(why: string): never {
    const rest = this.#text.slice(this.#at, this.#at + 20);
    const place = rest === '' ? 'at its end' : `at "${rest}"`;
    throw new PodwrightError('invalid_argument', `the JSONPath template, ${place}: ${why}`);
  }
}
