/** Splits the source of an expression into tokens. */
import { CompileError, type Problem } from './compile-error.ts';

export type TokenKind = 'int' | 'uint' | 'double' | 'string' | 'bytes' | 'name' | 'escaped' | 'symbol' | 'end';
export type Token = { readonly kind: TokenKind; readonly text: string; readonly at: number };

const SPACE = /(?:[\t \r\n\f]+|\/\/[^\n]*)+/y;
const QUOTED = String.raw`"""(?:\\[\s\S]|[^\\])*?"""|'''(?:\\[\s\S]|[^\\])*?'''|"(?:\\.|[^\\"\n\r])*"|'(?:\\.|[^\\'\n\r])*'`;
const RAW = String.raw`"""[\s\S]*?"""|'''[\s\S]*?'''|"[^"\n\r]*"|'[^'\n\r]*'`;

/** Token patterns. The first one that matches wins. */
const TOKENS: readonly (readonly [TokenKind, RegExp])[] = [
  ['bytes', new RegExp(`[bB](?:[rR](?:${RAW})|${QUOTED})`, 'y')],
  ['string', new RegExp(`[rR](?:${RAW})|${QUOTED}`, 'y')],
  ['double', /\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?/y],
  ['uint', /0x[\da-fA-F]+[uU]|\d+[uU]/y],
  ['int', /0x[\da-fA-F]+|\d+/y],
  ['name', /[A-Za-z_]\w*/y],
  ['escaped', /`[\w./ -]+`/y],
  ['symbol', /==|!=|<=|>=|&&|\|\||[<>[\]{}().,\-!?:+*/%]/y],
];

/** Maximum length of an expression in code points (cel-go). */
const MAX_LENGTH = 100_000;

/** Splits a text into tokens. Throws `CompileError`. */
export function tokens(text: string): Token[] {
  const length = text.length > MAX_LENGTH ? [...text].length : text.length;
  if (length > MAX_LENGTH) {
    const message = `expression code point size exceeds limit: size: ${length}, limit ${MAX_LENGTH}`;
    throw new CompileError('', [{ at: 0, message }]);
  }
  const found: Token[] = [];
  const problems: Problem[] = [];
  for (let at = skipSpace(text, 0); at < text.length; at = skipSpace(text, at)) {
    const token = tokenAt(text, at);
    if (token === undefined) {
      const char = String.fromCodePoint(text.codePointAt(at)!);
      problems.push({ at, message: `Syntax error: token recognition error at: '${char}'` });
      at += char.length;
      if (problems.length === 100) break;
    } else {
      found.push(token);
      at += token.text.length;
    }
  }
  if (problems.length > 0) throw new CompileError(text, problems);
  return [...found, { kind: 'end', text: '<EOF>', at: text.length }];
}

function skipSpace(text: string, at: number): number {
  SPACE.lastIndex = at;
  return SPACE.test(text) ? SPACE.lastIndex : at;
}

function tokenAt(text: string, at: number): Token | undefined {
  for (const [kind, expression] of TOKENS) {
    expression.lastIndex = at;
    const found = expression.exec(text)?.[0];
    if (found !== undefined) return { kind, text: found, at };
  }
  return undefined;
}
