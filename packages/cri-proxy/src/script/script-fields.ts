import { didYouMean, PodwrightError } from '@podwright/base';
import { isMap, isScalar, LineCounter, type Node, type Pair, parseDocument, type YAMLMap } from 'yaml';
import { durationMs } from './duration.ts';

/** A YAML script whose errors include the file name and line number. */
export class ScriptText {
  readonly #name: string;
  readonly #counter = new LineCounter();
  readonly contents: Node | null;

  /** Throws `invalid_argument` for malformed YAML. */
  constructor(text: string, name: string) {
    this.#name = name;
    const document = parseDocument(text, { lineCounter: this.#counter, prettyErrors: false, uniqueKeys: true });
    const [broken] = document.errors;
    if (broken !== undefined) throw this.#problemAt(this.#lineAt(broken.pos[0]), broken.message);
    this.contents = document.contents as Node | null;
  }

  lineOf(node: Node | null | undefined): number {
    return this.#lineAt(node?.range?.[0] ?? 0);
  }

  /** Throws `invalid_argument` with the YAML node's line number. */
  fail(node: Node | null | undefined, message: string): never {
    throw this.problem(node, message);
  }

  /** Returns the error thrown by `fail`. */
  problem(node: Node | null | undefined, message: string): PodwrightError {
    return this.#problemAt(this.lineOf(node), message);
  }

  #lineAt(offset: number): number {
    return this.#counter.linePos(offset).line || 1;
  }

  #problemAt(line: number, message: string): PodwrightError {
    return new PodwrightError('invalid_argument', `${this.#name}:${line}: ${message}`);
  }
}

type Range = { minimum?: number; maximum?: number; isWhole?: boolean };

/** The fields of a map in a script. The methods return `undefined` for absent fields and throw for invalid values. */
export class ScriptFields {
  readonly #text: ScriptText;
  readonly #fields = new Map<string, { key: Node; value: Node | null }>();

  /** Throws if the node is not a map or has fields that are not `known`. With `short`, a scalar is accepted as the value of that field. */
  constructor(node: Node | null | undefined, text: ScriptText, { known, short }: { known: string[]; short?: string }) {
    this.#text = text;
    if (short !== undefined && isScalar(node)) {
      this.#fields.set(short, { key: node, value: node });
      return;
    }
    if (!isMap(node)) throw text.problem(node, `fields are needed: ${known.join(', ')}`);
    for (const { key, value } of (node as YAMLMap<Node, Node | null>).items as Pair<Node, Node | null>[]) {
      const name = isScalar(key) ? String(key.value) : '';
      if (!known.includes(name)) text.fail(key, `unknown field ${JSON.stringify(name)}${didYouMean(name, known)}`);
      this.#fields.set(name, { key, value });
    }
  }

  node(field: string): Node | null | undefined {
    const found = this.#fields.get(field);
    return found && (found.value ?? found.key);
  }

  text(field: string): string | undefined {
    if (!this.#fields.has(field)) return undefined;
    const value = this.#scalar(field);
    if (typeof value === 'string' && value !== '') return value;
    return typeof value === 'number' ? String(value) : this.fail(field, 'a text is needed');
  }

  choice<T extends string>(field: string, choices: readonly T[]): T | undefined {
    const text = this.text(field);
    if (text === undefined) return undefined;
    const choice = choices.find((one) => one === text);
    if (choice !== undefined) return choice;
    const listed = choices.length > 3 ? '' : `: ${choices.join(' or ')} is needed`;
    return this.fail(field, `${JSON.stringify(text)} is unknown${listed}${didYouMean(text, choices)}`);
  }

  /** Returns a field's duration in milliseconds. */
  duration(field: string): number | undefined {
    const text = this.text(field);
    if (text === undefined) return undefined;
    return durationMs(text) ?? this.fail(field, 'a duration such as 500ms, 3m or 1h30m is needed, of at most 24h');
  }

  number(
    field: string,
    { minimum = 0, maximum = Number.MAX_SAFE_INTEGER, isWhole = true }: Range = {},
  ): number | undefined {
    if (!this.#fields.has(field)) return undefined;
    const value = this.#scalar(field);
    const isNumber = typeof value === 'number' && (!isWhole || Number.isInteger(value));
    if (isNumber && value >= minimum && value <= maximum) return value;
    const upper = maximum === Number.MAX_SAFE_INTEGER ? 'up' : `to ${maximum}`;
    return this.fail(field, `a ${isWhole ? 'whole ' : ''}number from ${minimum} ${upper} is needed`);
  }

  fail(field: string, message: string): never {
    return this.#text.fail(this.node(field), `${field}: ${message}`);
  }

  #scalar(field: string): unknown {
    const value = this.#fields.get(field)?.value;
    return isScalar(value) ? value.value : undefined;
  }
}
