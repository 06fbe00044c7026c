/** Helpers for JSON objects. */

export type JsonObject = { [field: string]: unknown };

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Sets a field even if it is named `__proto__`, which clients may send. */
export function setField(object: JsonObject, name: string, value: unknown): void {
  if (name !== '__proto__') object[name] = value;
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}

/** Returns a field's value, or `undefined` for inherited properties such as `constructor`. */
export const fieldOf = (object: JsonObject, name: string): unknown =>
  Object.hasOwn(object, name) ? object[name] : undefined;

/**
 * Maximum nesting depth. Deeper JSON is rejected where it is received or where it grows, so recursive functions need no check of their own.
 * Built-in kinds need fewer than 30 levels.
 */
const MAX_DEPTH = 1000;

/** Whether a value nests lists and objects more than 1,000 levels deep. Does not use recursion itself. */
export function isTooDeep(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return true;
    const next: unknown[] = [];
    for (const one of level) if (typeof one === 'object' && one !== null) addChildren(one, next);
    level = next;
  }
  return false;
}

/** Adds all of a value's children, even scalars: they count as a nesting level, too. */
function addChildren(value: object, children: unknown[]): void {
  for (const child of Array.isArray(value) ? value : Object.values(value)) children.push(child);
}
