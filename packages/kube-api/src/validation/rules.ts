import type { IssueList } from '../issue.ts';
import type { TextRule } from './names.ts';

/** Adds an issue unless `value` is absent or within the bounds. */
export function within(value: number | undefined, bounds: { min: number; max?: number }, issues: IssueList): void {
  if (value === undefined) return;
  const max = bounds.max ?? Number.POSITIVE_INFINITY;
  if (value >= bounds.min && value <= max) return;
  const range = bounds.max === undefined ? `at least ${bounds.min}` : `between ${bounds.min} and ${bounds.max}`;
  issues.add(`must be ${range}, got ${value}`);
}

/** Applies `rule` unless `text` is undefined. */
export function check(rule: TextRule, text: string | undefined, issues: IssueList): void {
  if (text !== undefined) rule(text, issues);
}

/** Adds an issue unless exactly one of the named fields is set in `value`. */
export function exactlyOne<T extends object>(value: T, names: readonly (keyof T & string)[], issues: IssueList): void {
  const given = names.filter((name) => value[name] !== undefined);
  if (given.length === 0) issues.add(`must have one of ${names.join(', ')}`);
  for (const name of given.slice(1)) issues.at(name).addKey(`must not be given together with ${given[0]}`);
}

/** Adds an issue for each element with the same key as an earlier one. Elements without a key are skipped. */
export function unique<T>(
  elements: readonly T[],
  keyOf: (element: T) => string | undefined,
  options: { issues: IssueList; field?: string; what: string },
): void {
  const seen = new Set<string>();
  for (const [index, element] of elements.entries()) {
    const key = keyOf(element);
    if (key === undefined) continue;
    const place = options.issues.at(index, ...(options.field === undefined ? [] : [options.field]));
    if (seen.has(key)) place.add(`${options.what} "${key}" is used twice`);
    seen.add(key);
  }
}

/** Calls `visit` for each element, with the issue collector for its path. */
export function each<T>(
  elements: readonly T[] | undefined,
  issues: IssueList,
  visit: (element: T, issues: IssueList) => void,
): void {
  for (const [index, element] of (elements ?? []).entries()) visit(element, issues.at(index));
}

/** Maximum user or group ID. */
export const MAX_ID = 2 ** 31 - 1;
/** Maximum signed 32-bit integer. */
export const MAX_INT32 = 2 ** 31 - 1;
