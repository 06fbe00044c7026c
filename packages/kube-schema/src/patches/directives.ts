/** Directives of strategic merge patches (Kubernetes design proposals: strategic-merge-patch, preserve-order-in-strategic-merge-patch). */
import { isJsonObject, type JsonObject, setField } from '../json.ts';

/** In an object: `replace`, or `delete`; in an element of a list also with its merge key. */
export const PATCH = '$patch';
/** The only fields of an object that remain. */
export const RETAIN_KEYS = '$retainKeys';
/** Before the name of a list: the merge keys of its elements, or its scalars, in order. */
export const SET_ORDER = '$setElementOrder/';
/** Before the name of a list of scalars: those that are removed. */
export const DELETE_SCALARS = '$deleteFromPrimitiveList/';

export const isDirective = (name: string): boolean =>
  name === PATCH || name === RETAIN_KEYS || name.startsWith(SET_ORDER) || name.startsWith(DELETE_SCALARS);

export const hasPatchDirective = (value: unknown): value is JsonObject =>
  isJsonObject(value) && Object.hasOwn(value, PATCH);

/**
 * A patch's value for something that the original does not have: without nulls, directives, and objects that have a `$patch`. Undefined if
 * nothing of it remains.
 */
export function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDirectives).filter((one) => one !== undefined);
  if (!isJsonObject(value)) return value;
  if (hasPatchDirective(value)) return undefined;
  const result: JsonObject = {};
  for (const [name, one] of Object.entries(value)) {
    const kept = one === null || isDirective(name) ? undefined : withoutDirectives(one);
    if (kept !== undefined) setField(result, name, kept);
  }
  return result;
}
