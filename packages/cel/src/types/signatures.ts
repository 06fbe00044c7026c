/** Function signatures in the notation of error messages: `string.(int) -> string` is a method of strings. */

import type { CelType } from './types.ts';
import * as types from './types.ts';

export type Signature = {
  readonly isMember: boolean;
  readonly parameters: readonly CelType[];
  readonly result: CelType;
};

const SIMPLE: Readonly<Record<string, CelType>> = {
  dyn: types.DYN,
  null: types.NULL,
  bool: types.BOOL,
  int: types.INT,
  uint: types.UINT,
  double: types.DOUBLE,
  string: types.STRING,
  bytes: types.BYTES,
  timestamp: types.TIMESTAMP,
  duration: types.DURATION,
};

/** Parses a signature. A single capital letter is a type parameter; other unknown names are opaque types. */
export function signature(text: string): Signature {
  const [, target = '', list = '', result = ''] = /^(?:(.+)\.)?\((.*)\) -> (.+)$/.exec(text)!;
  const parameters = split(list).map(readType);
  const isMember = target !== '';
  return { isMember, parameters: isMember ? [readType(target), ...parameters] : parameters, result: readType(result) };
}

function readType(text: string): CelType {
  const [, name = text, inner] = /^([\w.]+)\((.*)\)$/.exec(text) ?? [];
  if (inner === undefined) return SIMPLE[name] ?? (/^[A-Z]$/.test(name) ? types.param(name) : types.opaque(name));
  const [first, second] = split(inner).map(readType);
  if (name === 'list') return types.listOf(first!);
  if (name === 'map') return types.mapOf(first!, second!);
  return name === 'type' ? types.typeOfType(first!) : types.optionalOf(first!);
}

/** Splits a parameter list at commas outside of parentheses. */
function split(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let part = '';
  for (const char of text) {
    if (char === '(') depth++;
    if (char === ')') depth--;
    if (char === ',' && depth === 0) {
      parts.push(part.trim());
      part = '';
    } else part += char;
  }
  return part.trim() === '' ? parts : [...parts, part.trim()];
}
