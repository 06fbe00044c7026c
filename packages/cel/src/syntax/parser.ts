/** Parses expressions (CEL specification, "Syntax"). */
import { CompileError, type Problem } from './compile-error.ts';
import type { Element, Entry, Expression, LiteralValue, Message } from './expression.ts';
import { bytesValue, intValue, stringValue, uintValue } from './literals.ts';
import { expandMacro } from './macros.ts';
import { type Token, tokens } from './tokens.ts';

/** Maximum nesting depth of expressions (cel-go). */
const MAX_DEPTH = 250;
/** Maximum number of chained operators or member accesses, each of which adds a level to the tree. */
const MAX_CHAIN = 500;
/** Maximum number of nodes in the tree. `optMap` duplicates its target, so nesting it multiplies the number of nodes. */
const MAX_NODES = 100_000;

const RESERVED = new Set(
  'as break const continue else false for function if import in let loop package namespace null return true var void while'.split(
    ' ',
  ),
);

const STARTS =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

/** Binary operators, from lowest to highest precedence. */
const BINARY: readonly (readonly string[])[] = [
  ['<', '<=', '>=', '>', '==', '!=', 'in'],
  ['+', '-'],
  ['*', '/', '%'],
];

/** Parses an expression. Throws `CompileError`. */
export function parse(text: string): Expression {
  const parser = new Parser(text);
  try {
    return parser.whole();
  } catch (error) {
    if (error instanceof SyntaxProblem) throw new CompileError(text, [...parser.problems, error]);
    throw error;
  }
}

/** A problem that aborts parsing. */
class SyntaxProblem extends Error implements Problem {
  readonly at: number;

  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

class Parser {
  /** Problems that did not abort parsing. */
  readonly problems: Problem[] = [];
  readonly #text: string;
  readonly #tokens: readonly Token[];
  #index = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
    this.#tokens = tokens(text);
  }

  whole(): Expression {
    const expression = this.#expression();
    if (this.#token.kind !== 'end') throw this.#unexpected('<EOF>', (next) => next.kind === 'end');
    if (this.problems.length > 0) throw new CompileError(this.#text, this.problems);
    return expression;
  }

  get #token(): Token {
    return this.#tokens[this.#index]!;
  }

  #expression(): Expression {
    if (++this.#depth > MAX_DEPTH) throw this.#tooDeep();
    const condition = this.#logical('||', () => this.#logical('&&', () => this.#binary(0)));
    const { at } = this.#token;
    let expression = condition;
    if (this.#skip('?')) {
      const then = this.#logical('||', () => this.#logical('&&', () => this.#binary(0)));
      this.#expect(':');
      expression = call('_?_:_', at, [condition, then, this.#expression()]);
    }
    this.#depth--;
    return expression;
  }

  #logical(operator: '||' | '&&', operand: () => Expression): Expression {
    const operands = [operand()];
    const { at } = this.#token;
    while (this.#skip(operator)) operands.push(operand());
    return operands.length === 1 ? operands[0]! : call(`_${operator}_`, at, operands);
  }

  #binary(level: number): Expression {
    const operators = BINARY[level];
    if (operators === undefined) return this.#unary();
    let left = this.#binary(level + 1);
    for (let length = 0; this.#isSymbol(operators); length++) {
      if (length >= MAX_CHAIN) throw this.#tooDeep();
      const { text, at } = this.#take();
      left = call(text === 'in' ? '@in' : `_${text}_`, at, [left, this.#binary(level + 1)]);
    }
    return left;
  }

  #isSymbol(symbols: readonly string[]): boolean {
    const { kind, text } = this.#token;
    return (kind === 'symbol' || (kind === 'name' && text === 'in')) && symbols.includes(text);
  }

  #unary(): Expression {
    const { text, at } = this.#token;
    const isOperator = this.#isSymbol(['!', '-']);
    if (!isOperator) return this.#member();
    let count = 0;
    while (this.#isSymbol([text]) && !(text === '-' && this.#isNegativeNumber())) {
      count++;
      this.#index++;
    }
    const operand = this.#member();
    return count % 2 === 0 ? operand : call(text === '!' ? '!_' : '-_', at, [operand]);
  }

  #isNegativeNumber(): boolean {
    const next = this.#tokens[this.#index + 1]!;
    return this.#isSymbol(['-']) && (next.kind === 'int' || next.kind === 'double');
  }

  #member(): Expression {
    let operand = this.#primary();
    for (let length = 0; this.#isSymbol(['.', '[']); length++) {
      if (length >= MAX_CHAIN) throw this.#tooDeep();
      operand = this.#take().text === '.' ? this.#selected(operand) : this.#indexed(operand);
    }
    return operand;
  }

  #selected(operand: Expression): Expression {
    const { at } = this.#tokens[this.#index - 1]!;
    const isOptional = this.#skip('?');
    const { kind, text } = this.#token;
    if (kind === 'escaped') this.problems.push({ at: this.#token.at, message: "unsupported syntax: '`'" });
    else if (kind !== 'name') throw this.#noField(text);
    const name = this.#take();
    const field = kind === 'escaped' ? text.slice(1, -1) : text;
    if (isOptional) return call('_?._', at, [operand, { kind: 'literal', value: field, at: name.at }]);
    const open = this.#token.at;
    if (kind === 'name' && this.#skip('(')) return this.#called(field, operand, open);
    return { kind: 'select', operand, field, isTest: false, at };
  }

  #indexed(operand: Expression): Expression {
    const { at } = this.#tokens[this.#index - 1]!;
    const name = this.#skip('?') ? '_[?_]' : '_[_]';
    const index = this.#expression();
    this.#expect(']');
    return call(name, at, [operand, index]);
  }

  #called(name: string, target: Expression | undefined, at: number): Expression {
    const parameters: Expression[] = [];
    if (!this.#skip(')')) {
      do parameters.push(this.#expression());
      while (this.#skip(','));
      this.#expect(')');
    }
    const given = { kind: 'call', name, target, parameters, at } as const;
    const expanded = expandMacro(given);
    if (expanded === undefined) return given;
    if (!('problem' in expanded)) return this.#bounded(expanded);
    this.problems.push({ at: expanded.at, message: expanded.problem });
    return given;
  }

  /** Bounds the size of an expanded macro. `optMap` repeats its target, so nested ones multiply the size. */
  #bounded(expression: Expression): Expression {
    if (this.#depth > 0 && nodesOf(expression, MAX_NODES) >= MAX_NODES) throw this.#tooDeep();
    return expression;
  }

  #primary(): Expression {
    const { kind, text, at } = this.#token;
    if (kind === 'symbol') return this.#bracketed();
    const literal = this.#literal();
    if (literal !== undefined) return literal;
    if (kind !== 'name') throw this.#unexpected(STARTS, startsExpression);
    this.#index++;
    return this.#named(text, at);
  }

  #named(name: string, at: number): Expression {
    if (RESERVED.has(name)) this.problems.push({ at, message: `reserved identifier: ${name}` });
    const open = this.#token.at;
    if (this.#skip('(')) return this.#called(name, undefined, open);
    const message = this.#message(name);
    return message ?? { kind: 'identifier', name, at };
  }

  /** Returns a message such as `Object.spec{field: value}`, if one begins with this name. */
  #message(name: string): Expression | undefined {
    let index = this.#index;
    let full = name;
    while (this.#tokens[index]?.text === '.' && this.#tokens[index + 1]?.kind === 'name') {
      full += `.${this.#tokens[index + 1]!.text}`;
      index += 2;
    }
    if (this.#tokens[index]?.text !== '{' || this.#tokens[index]?.kind !== 'symbol') return undefined;
    this.#index = index;
    const { at } = this.#take();
    const fields: Message['fields'][number][] = [];
    while (!this.#skip('}')) {
      const isOptional = this.#skip('?');
      const field = this.#take();
      if (field.kind !== 'name' && field.kind !== 'escaped') throw this.#unexpected('IDENTIFIER');
      const colon = this.#token.at;
      this.#expect(':');
      const value = this.#expression();
      fields.push({ name: field.text.replaceAll('`', ''), value, isOptional, at: colon });
      if (!this.#skip(',')) {
        this.#expect('}');
        break;
      }
    }
    return { kind: 'message', name: full, fields, at };
  }

  #bracketed(): Expression {
    const { text, at } = this.#take();
    if (text === '(') {
      const expression = this.#expression();
      this.#expect(')');
      return expression;
    }
    if (text === '[') return { kind: 'list', elements: this.#sequence(']', () => this.#element()), at };
    if (text === '{') return { kind: 'map', entries: this.#sequence('}', () => this.#entry()), at };
    this.#index--;
    if (text === '-' && this.#isNegativeNumber()) return this.#negative();
    const { kind, text: name } = this.#tokens[this.#index + 1] ?? this.#token;
    if (text !== '.' || kind !== 'name') throw this.#unexpected(STARTS, startsExpression);
    this.#index += 2;
    return this.#named(name, at);
  }

  #sequence<Part>(end: string, read: () => Part): Part[] {
    const parts: Part[] = [];
    while (!this.#skip(end)) {
      parts.push(read());
      if (this.#skip(',')) continue;
      if (!this.#skip(end)) throw this.#unexpected(`{'${end}', ','}`);
      break;
    }
    return parts;
  }

  #element(): Element {
    const isOptional = this.#skip('?');
    return { value: this.#expression(), isOptional };
  }

  #entry(): Entry {
    const isOptional = this.#skip('?');
    const key = this.#expression();
    this.#expect(':');
    return { key, value: this.#expression(), isOptional };
  }

  #negative(): Expression {
    const { at } = this.#take();
    return this.#number(this.#take(), at, true);
  }

  #number({ kind, text }: Token, at: number, isNegative: boolean): Expression {
    if (kind === 'double') return this.#valued(at, Number(text) * (isNegative ? -1 : 1));
    const value = intValue(text, isNegative);
    if (value === undefined) this.problems.push({ at, message: 'invalid int literal' });
    return this.#valued(at, value ?? 0n);
  }

  #literal(): Expression | undefined {
    const token = this.#token;
    const { kind, text, at } = token;
    const word = kind === 'name' ? WORDS.get(text) : undefined;
    if (kind === 'name' && word === undefined) return undefined;
    if (kind === 'end' || kind === 'escaped') return undefined;
    this.#index++;
    if (word !== undefined) return this.#valued(at, word.value);
    if (kind === 'int' || kind === 'double') return this.#number(token, at, false);
    if (kind === 'uint') {
      const value = uintValue(text);
      if (value === undefined) this.problems.push({ at, message: 'invalid uint literal' });
      return this.#valued(at, { uint: value ?? 0n });
    }
    const read = kind === 'bytes' ? bytesValue(text) : stringValue(text);
    if ('problem' in read) {
      this.problems.push({ at, message: read.problem });
      return this.#valued(at, '');
    }
    return this.#valued(at, 'text' in read ? read.text : read.bytes);
  }

  #valued = (at: number, value: LiteralValue): Expression => ({ kind: 'literal', value, at });

  #take(): Token {
    const token = this.#token;
    if (token.kind !== 'end') this.#index++;
    return token;
  }

  #skip(symbol: string): boolean {
    if (this.#token.kind !== 'symbol' || this.#token.text !== symbol) return false;
    this.#index++;
    return true;
  }

  #expect(symbol: string): void {
    if (this.#skip(symbol)) return;
    const { at, text } = this.#token;
    if (symbol === ':' && this.#token.kind === 'end') throw this.#unexpected("':'");
    throw new SyntaxProblem(at, `Syntax error: missing '${symbol}' at '${text}'`);
  }

  /** Returns the error for the current token, which is reported as extraneous if `isExpected` accepts the next token. */
  #unexpected(expected: string, isExpected: (token: Token) => boolean = () => false): SyntaxProblem {
    const { at, text } = this.#token;
    const next = this.#tokens[this.#index + 1];
    const problem = next !== undefined && isExpected(next) ? 'extraneous' : 'mismatched';
    return new SyntaxProblem(at, `Syntax error: ${problem} input '${text}' expecting ${expected}`);
  }

  #noField(text: string): SyntaxProblem {
    const shown = text === '<EOF>' ? '.' : `.${text}`;
    return new SyntaxProblem(this.#token.at, `Syntax error: no viable alternative at input '${shown}'`);
  }

  #tooDeep = (): SyntaxProblem =>
    new SyntaxProblem(this.#token.at, `expression recursion limit exceeded: ${MAX_DEPTH}`);
}

const startsExpression = ({ kind, text }: Token): boolean =>
  kind === 'symbol' ? '[{(.-!'.includes(text) : kind !== 'end' && kind !== 'escaped';

const WORDS: ReadonlyMap<string, { value: LiteralValue }> = new Map([
  ['true', { value: true }],
  ['false', { value: false }],
  ['null', { value: null }],
]);

const call = (name: string, at: number, parameters: readonly Expression[]): Expression => ({
  kind: 'call',
  name,
  target: undefined,
  parameters,
  at,
});

function nodesOf(root: Expression, limit: number): number {
  const waiting = [root];
  let count = 0;
  for (let one = waiting.pop(); one !== undefined && count < limit; one = waiting.pop()) {
    count++;
    waiting.push(...partsOf(one));
  }
  return count;
}

/** Returns the direct subexpressions of an expression. */
export function partsOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case 'select':
      return [expression.operand];
    case 'call':
      return [...(expression.target === undefined ? [] : [expression.target]), ...expression.parameters];
    case 'list':
      return expression.elements.map(({ value }) => value);
    case 'map':
      return expression.entries.flatMap(({ key, value }) => [key, value]);
    case 'message':
      return expression.fields.map(({ value }) => value);
    case 'fold':
      return [expression.range, expression.start, expression.condition, expression.step, expression.result];
    default:
      return [];
  }
}
