/**
 * Copies a value as if it were encoded as JSON and decoded again: fields that are undefined are absent from the copy. The two sides of a
 * call do not share objects, so each may change its own.
 */
export function copyJson<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => (one === undefined ? null : copyJson(one))) as T;
  if ('toJSON' in value && typeof value.toJSON === 'function') return copyJson(value.toJSON());
  const copy: Record<string, unknown> = {};
  for (const [name, one] of Object.entries(value)) if (one !== undefined) setField(copy, name, copyJson(one));
  return copy as T;
}

/** An assignment to `__proto__`, which may be the name of a label, would replace the prototype. */
function setField(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') object[name] = value;
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}
