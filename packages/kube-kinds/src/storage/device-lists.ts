/** Lists and maps of devices' objects, whose sizes are limited. A list that is too large has no other errors. */
import { type FieldError, tooMany } from '../field-error.ts';
import { duplicates } from '../repeats.ts';
import { textEntriesAt } from '../values.ts';

type ItemRule<T> = (field: string, item: T) => FieldError[];

/** validateSlice: no limit if `max` is absent. */
export function validateItems<T>(
  field: string,
  items: readonly T[],
  { max = Number.POSITIVE_INFINITY, validate }: { max?: number; validate: ItemRule<T> },
): FieldError[] {
  if (items.length > max) return [tooMany(field, items.length, max)];
  return items.flatMap((item, index) => validate(`${field}[${index}]`, item));
}

/** validateSet: like `validateItems`, and no two items have the same key. */
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
  /** Longer keys are cut in the paths of errors. */
  maxKey: number;
  validateKey: ItemRule<string>;
  validate?: ItemRule<unknown>;
};

/** validateMap, in the order of the keys. */
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
