/** Directives of strategic merge patches (Kubernetes design proposals: strategic-merge-patch, preserve-order-in-strategic-merge-patch). */
import { isJsonObject, type JsonObject, setField } from '../json.ts';

/** In an object: `replace` or `delete`. An element of a list also has its merge key. */
export const PATCH = '$patch';
/** In an object: the names of the only fields to keep. */
export const RETAIN_KEYS = '$retainKeys';
/** Prefix of a list's name. The value is the order of the list: the merge keys of its elements, or its scalars. */
export const SET_ORDER = '$setElementOrder/';
/** Prefix of the name of a list of scalars. The value lists the scalars to remove. */
export const DELETE_SCALARS = '$deleteFromPrimitiveList/';

export const isDirective = (name: string): boolean =>
  name === PATCH || name === RETAIN_KEYS || name.startsWith(SET_ORDER) || name.startsWith(DELETE_SCALARS);

export const hasPatchDirective = (value: unknown): value is JsonObject =>
  isJsonObject(value) && Object.hasOwn(value, PATCH);

/**
 * A patch's value for a field that the original lacks: without nulls, directives, and objects that have a `$patch`. Undefined if nothing is
 * left.
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
