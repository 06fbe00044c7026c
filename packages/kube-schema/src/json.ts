/** JSON values. */

export type JsonObject = { [field: string]: unknown };

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Sets a field also if its name is `__proto__`, which clients may send. */
export function setField(object: JsonObject, name: string, value: unknown): void {
  if (name !== '__proto__') object[name] = value;
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}

/** A field's value; `undefined` for what an object inherits, as `constructor`. */
export const fieldOf = (object: JsonObject, name: string): unknown =>
  Object.hasOwn(object, name) ? object[name] : undefined;

/** Deeper JSON is refused where it arrives or grows, so that recursive functions need no check of their own. Built-in kinds need less than 30. */
const MAX_DEPTH = 1000;

/** Whether a value has lists and objects more than 1,000 deep. Does not recurse itself. */
export function isTooDeep(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return true;
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []));
  }
  return false;
}
