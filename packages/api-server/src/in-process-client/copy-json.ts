/**
 * Copies a value as if encoded to JSON and decoded again: undefined fields are dropped. The two sides of a call share no objects, so each
 * may modify its own.
 */
export function copyJson<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => (one === undefined ? null : copyJson(one))) as T;
  if ('toJSON' in value && typeof value.toJSON === 'function') return copyJson(value.toJSON());
  const copy: Record<string, unknown> = {};
  for (const [name, one] of Object.entries(value)) if (one !== undefined) setField(copy, name, copyJson(one));
  return copy as T;
}

/**
 * Sets a field, even one named `__proto__`, which is a valid key in the data of a ConfigMap. An assignment would replace the object's
 * prototype instead.
 */
function setField(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') object[name] = value;
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}
