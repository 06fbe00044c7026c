/** Access to the fields of decoded objects: values of other types count as absent. Nothing is modified. */
import { compareQuantities } from '@podwright/kube-api';

export type JsonObject = { [field: string]: unknown };

/** Field names and list indexes. */
type Step = string | number;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value at a path; undefined if it is absent or null. Inherited properties such as `constructor` are absent. */
export function valueAt(value: unknown, ...path: readonly Step[]): unknown {
  let found: unknown = value;
  for (const step of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, step)) return undefined;
    found = (found as Record<Step, unknown>)[step];
  }
  return found ?? undefined;
}

export function objectAt(value: unknown, ...path: readonly Step[]): JsonObject | undefined {
  const found = valueAt(value, ...path);
  return isObject(found) ? found : undefined;
}

/** A list; empty if it is absent. */
export function listAt(value: unknown, ...path: readonly Step[]): readonly unknown[] {
  const found = valueAt(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** A list of objects; empty if it is absent. */
export const objectsAt = (value: unknown, ...path: readonly Step[]): readonly JsonObject[] =>
  listAt(value, ...path).map((one) => (isObject(one) ? one : {}));

/** A list of texts; empty if it is absent. */
export const textsAt = (value: unknown, ...path: readonly Step[]): readonly string[] =>
  listAt(value, ...path).map((one) => (typeof one === 'string' ? one : ''));

/** A text; '' if it is absent, as in Go. */
export function textAt(value: unknown, ...path: readonly Step[]): string {
  const found = valueAt(value, ...path);
  return typeof found === 'string' ? found : '';
}

export function numberAt(value: unknown, ...path: readonly Step[]): number | undefined {
  const found = valueAt(value, ...path);
  return typeof found === 'number' ? found : undefined;
}

/** A boolean; false if it is absent. */
export const booleanAt = (value: unknown, ...path: readonly Step[]): boolean => valueAt(value, ...path) === true;

/** The entries of a map of texts, sorted by key as in Go's JSON; empty if it is absent. */
export function textEntriesAt(value: unknown, ...path: readonly Step[]): [key: string, text: string][] {
  const entries = Object.entries(objectAt(value, ...path) ?? {});
  const texts = entries.map(([key, one]): [string, string] => [key, typeof one === 'string' ? one : '']);
  return texts.sort(([a], [b]) => (a < b ? -1 : 1));
}

/** A copy of `object` with `value` at a path of field names; `undefined` removes the field. Absent objects on the path are created. */
export function withValue<T extends JsonObject>(object: T, path: readonly string[], value: unknown): T {
  const [name, ...rest] = path;
  const inner = rest.length === 0 ? value : withValue(objectAt(object, name!) ?? {}, rest, value);
  if (inner === undefined) {
    const { [name!]: _, ...others } = object;
    return others as T;
  }
  // the computed name creates a property of the object itself, even for `__proto__`
  return { ...object, [name!]: inner };
}

/** A copy of `object` whose value at the path, if it is a list of objects, is mapped. */
export function withItems<T extends JsonObject>(
  object: T,
  path: readonly string[],
  map: (item: JsonObject, index: number) => JsonObject,
): T {
  const items = objectsAt(object, ...path);
  return items.length === 0 ? object : withValue(object, path, items.map(map));
}

/** Whether two decoded values are equal, as apimachinery's Semantic.DeepEqual: a null field or an empty list is equal to an absent one. */
export function isSameValue(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((one, index) => isSameValue(one, b[index]));
  if (isObject(a) && isObject(b)) {
    const names = new Set([...Object.keys(a), ...Object.keys(b)]);
    return [...names].every((name) => isSameValue(valueAt(a, name), valueAt(b, name)));
  }
  return (a ?? null) === (b ?? null) || (isEmptyList(a) && isEmptyList(b));
}

const isEmptyList = (value: unknown): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0);

export const isNegativeQuantity = (quantity: string): boolean => compareQuantities(quantity, '0') < 0;
