/** Validates lists and maps with limited size in device objects. If a list is too long, no other errors are reported for it. */
import { type FieldError, tooMany } from '../field-error.ts';
import { duplicates } from '../repeats.ts';
import { textEntriesAt } from '../values.ts';

type ItemRule<T> = (field: string, item: T) => FieldError[];

/** Validates the items of a list (validateSlice). Without `max`, its length is unlimited. */
export function validateItems<T>(
  field: string,
  items: readonly T[],
  { max = Number.POSITIVE_INFINITY, validate }: { max?: number; validate: ItemRule<T> },
): FieldError[] {
  if (items.length > max) return [tooMany(field, items.length, max)];
  return items.flatMap((item, index) => validate(`${field}[${index}]`, item));
}

/** Like `validateItems`, but also requires unique keys (validateSet). */
export function validateSet<T>(
  field: string,
  items: readonly T[],
  { key, ...options }: { max?: number; validate: ItemRule<T>; key: (item: T) => string },
): FieldError[] {
  const errors = validateItems(field, items, options);
  if (items.length > (options.max ?? Number.POSITIVE_INFINITY)) return errors;
  return [...errors, ...duplicates(items.map(key), (index) => `${field}[${index}]`)];
}

type MapRules = {
  max?: number;
  /** Maximum length of a key in error paths. Longer keys are truncated. */
  maxKey: number;
  validateKey: ItemRule<string>;
  validate?: ItemRule<unknown>;
};

/** Validates a map in key order (validateMap). */
export function validateMap(field: string, map: Readonly<Record<string, unknown>>, rules: MapRules): FieldError[] {
  const keys = textEntriesAt(map).map(([key]) => key);
  if (keys.length > (rules.max ?? Number.POSITIVE_INFINITY)) return [tooMany(field, keys.length, rules.max!)];
  return keys.flatMap((key) => [
    ...rules.validateKey(field, key),
    ...(rules.validate?.(`${field}[${shortened(key, rules.maxKey)}]`, map[key]) ?? []),
  ]);
}

function shortened(key: string, max: number): string {
  if (key.length <= max) return key;
  const remaining = max - 3;
  return `${key.slice(0, Math.ceil(remaining / 2))}...${key.slice(key.length - Math.floor(remaining / 2))}`;
}
