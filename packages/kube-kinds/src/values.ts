/** Accessors for fields of decoded objects. Values of the wrong type are treated as absent. Nothing is modified. */
import { compareQuantities } from '@podwright/kube-api';

export type JsonObject = { [field: string]: unknown };

type Step = string | number;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Returns the value at a path, or `undefined` if it is absent or null. Inherited properties such as `constructor` are treated as absent.
 */
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

/** Returns the list at a path, or an empty list if it is absent. */
export function listAt(value: unknown, ...path: readonly Step[]): readonly unknown[] {
  const found = valueAt(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** Returns the list of objects at a path, or an empty list if it is absent. */
export const objectsAt = (value: unknown, ...path: readonly Step[]): readonly JsonObject[] =>
  listAt(value, ...path).map((one) => (isObject(one) ? one : {}));

/** Returns the list of strings at a path, or an empty list if it is absent. */
export const textsAt = (value: unknown, ...path: readonly Step[]): readonly string[] =>
  listAt(value, ...path).map((one) => (typeof one === 'string' ? one : ''));

/** Returns the string at a path or, as in Go, '' if it is absent. */
export function textAt(value: unknown, ...path: readonly Step[]): string {
  const found = valueAt(value, ...path);
  return typeof found === 'string' ? found : '';
}

export function numberAt(value: unknown, ...path: readonly Step[]): number | undefined {
  const found = valueAt(value, ...path);
  return typeof found === 'number' ? found : undefined;
}

/** Returns the boolean at a path, or false if it is absent. */
export const booleanAt = (value: unknown, ...path: readonly Step[]): boolean => valueAt(value, ...path) === true;

/** Returns the entries of the string map at a path, sorted by key as in Go's JSON. Empty if the map is absent. */
export function textEntriesAt(value: unknown, ...path: readonly Step[]): [key: string, text: string][] {
  const entries = Object.entries(objectAt(value, ...path) ?? {});
  const texts = entries.map(([key, one]): [string, string] => [key, typeof one === 'string' ? one : '']);
  return texts.sort(([a], [b]) => (a < b ? -1 : 1));
}

/**
 * Returns a copy of `object` with `value` at a path of field names; `undefined` removes the field. Creates missing objects along the path.
 */
export function withValue<T extends JsonObject>(object: T, path: readonly string[], value: unknown): T {
  const [name, ...rest] = path;
  const inner = rest.length === 0 ? value : withValue(objectAt(object, name!) ?? {}, rest, value);
  if (inner === undefined) {
    const { [name!]: _, ...others } = object;
    return others as T;
  }
  // a computed property name creates an own property even for `__proto__`
  return { ...object, [name!]: inner };
}

/**
 * Returns a copy of `object` in which each object in the list at the path has been replaced with the result of `map`, or `object` itself if
 * the list is absent or empty.
 */
export function withItems<T extends JsonObject>(
  object: T,
  path: readonly string[],
  map: (item: JsonObject, index: number) => JsonObject,
): T {
  const items = objectsAt(object, ...path);
  return items.length === 0 ? object : withValue(object, path, items.map(map));
}

/** Returns true if two decoded values are equal. Like apimachinery's Semantic.DeepEqual, treats null fields and empty lists as absent. */
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
