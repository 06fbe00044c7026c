import { isRecord, PodwrightError } from '@podwright/base';
import {
  type Comparison,
  type Filter,
  type Operand,
  type PathStep,
  parseTemplate,
  type Slice,
  type TemplatePart,
} from './jsonpath-parser.ts';

/** Maximum number of values that a path can select. Without a limit, repeating `{..*}` would multiply them without bound. */
const MAX_VALUES = 300_000;

/** `current` is the value that paths start from. With `strict`, an out-of-range index is an error, as in kubectl. */
type Scope = { current: unknown; strict: boolean; budget: { values: number } };

/**
 * Renders a template like kubectl: a path's values are separated by spaces, maps and lists are rendered as JSON, and a path without values
 * is rendered as empty. Throws `invalid_argument` if the template is invalid and `out_of_range` if an index is out of range.
 */
export function renderJsonPath(template: string, value: unknown): string {
  const scope = { current: value, strict: true, budget: { values: MAX_VALUES } };
  return renderParts(parseTemplate(template), scope);
}

/** Returns the values that a path selects in `value`. Indexes that are out of range select nothing. */
export function valuesAt(path: PathStep[], value: unknown): unknown[] {
  return walk(path, { current: value, strict: false, budget: { values: MAX_VALUES } });
}

/** Formats a value that a JSONPath selects, for use in a template. */
export function valueText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value, inOrder) : String(value);
}

/** A JSON replacer that sorts keys, as Go's encoder does. */
function inOrder(_key: string, value: unknown): unknown {
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function renderParts(parts: TemplatePart[], scope: Scope): string {
  return parts
    .map((part) => {
      if (part.type === 'text') return part.text;
      const values = walk(part.path, scope);
      if (part.type === 'value') return values.map(valueText).join(' ');
      return values.map((current) => renderParts(part.body, { ...scope, current })).join('');
    })
    .join('');
}

function walk(path: PathStep[], scope: Scope): unknown[] {
  let values = [scope.current];
  for (const step of path) {
    const from = values;
    values = membersOf(step).flatMap((member) => from.flatMap((value) => take(member, value, scope)));
    scope.budget.values -= values.length;
    if (scope.budget.values < 0) throw tooMany();
  }
  return values;
}

/**
 * Splits a union into its members. As in kubectl, the results for the first member come first, across all values, then those for the
 * second, and so on.
 */
function membersOf(step: PathStep): PathStep[] {
  switch (step.type) {
    case 'fields':
      return step.names.map((name, index) => ({ ...step, names: [name], paths: step.paths?.slice(index, index + 1) }));
    case 'slices':
      return step.slices.map((slice) => ({ ...step, slices: [slice] }));
    case 'union':
      return step.paths.map((path) => ({ ...step, paths: [path] }));
    default:
      return [step];
  }
}

function take(step: PathStep, value: unknown, scope: Scope): unknown[] {
  switch (step.type) {
    case 'fields':
      return step.names.flatMap((name, index) => fieldOf(value, name, step.paths?.[index]));
    case 'wildcard':
      return childrenOf(value);
    case 'slices':
      return Array.isArray(value) ? step.slices.flatMap((slice) => sliceOf(value, slice, scope.strict)) : [];
    case 'recursive':
      return descendantsOf(value, scope);
    case 'filter':
      return childrenOf(value).filter((current) => holds(step.filter, { ...scope, current }));
    case 'union':
      return step.paths.flatMap((path) => walk(path, { ...scope, current: value }));
  }
}

/** Returns the value of the field with this name or, if there is none, the values at the path into which the quoted name was split. */
function fieldOf(value: unknown, name: string, path: string[] = []): unknown[] {
  if (!isRecord(value)) return [];
  if (Object.hasOwn(value, name)) return [value[name]];
  const [first, ...rest] = path;
  if (first === undefined || rest.length === 0) return [];
  return fieldOf(value, first).flatMap((below) => fieldOf(below, rest.join('.'), rest));
}

function childrenOf(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  return Array.isArray(value) ? value : Object.values(value);
}

/** Returns a value and all its descendants, in pre-order. */
function descendantsOf(value: unknown, scope: Scope): unknown[] {
  const found: unknown[] = [];
  const rest = [value];
  while (rest.length > 0) {
    const next = rest.pop();
    found.push(next);
    if (--scope.budget.values < 0) throw tooMany();
    rest.push(...childrenOf(next).toReversed());
  }
  return found;
}

function tooMany(): PodwrightError {
  return new PodwrightError('resource_exhausted', `the JSONPath template leads to more than ${MAX_VALUES} values`);
}

function sliceOf(list: unknown[], { start, end, step = 1, single }: Slice, strict: boolean): unknown[] {
  const place = (index: number) => (index < 0 ? index + list.length : index);
  if (single && place(start!) in list) return [list[place(start!)]];
  if (single && strict)
    throw new PodwrightError('out_of_range', `the JSONPath template asks for [${start}] of a list of ${list.length}`);
  if (single) return [];
  const bound = (index: number) => Math.max(0, place(index));
  return list
    .slice(bound(start ?? 0), end === undefined ? undefined : bound(end))
    .filter((_, index) => index % step === 0);
}

function holds({ left, compared }: Filter, scope: Scope): boolean {
  const lefts = operandValues(left, scope);
  if (compared === undefined) return lefts.length > 0;
  const rights = operandValues(compared.right, scope);
  return lefts.some((a) => rights.some((b) => compare(a, compared.operator, b)));
}

function operandValues(operand: Operand, scope: Scope): unknown[] {
  return operand.type === 'literal' ? [operand.value] : walk(operand.path, scope);
}

/** Compares two values. Values of different types are never equal, and neither is less than the other. */
function compare(a: unknown, operator: Comparison, b: unknown): boolean {
  if (typeof a !== typeof b) return operator === '!=';
  if (operator === '==') return a === b;
  if (operator === '!=') return a !== b;
  const [left, right] = [a as number, b as number];
  if (operator === '<') return left < right;
  if (operator === '<=') return left <= right;
  return operator === '>' ? left > right : left >= right;
}
