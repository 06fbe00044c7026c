/** Directives in strategic merge patches (Kubernetes design proposals: strategic-merge-patch, preserve-order-in-strategic-merge-patch). */
import { isJsonObject, type JsonObject, setField } from '../json.ts';
import { patchError } from './patch-error.ts';

/** Directive in an object: `replace` or `delete`. In a list element, it accompanies the merge key. */
export const PATCH = '$patch';
/** Directive in an object: the names of the only fields to keep. */
export const RETAIN_KEYS = '$retainKeys';
/**
 * Directive for a list, followed by a slash and the list's field name. The value is the list's element order: the elements' merge keys, or
 * the elements themselves if they are scalars.
 */
export const SET_ORDER = '$setElementOrder';
/** Directive for a list of scalars, named like `SET_ORDER`. The value lists the scalars to remove. */
export const DELETE_SCALARS = '$deleteFromPrimitiveList';

const LIST_DIRECTIVES: Readonly<Record<typeof SET_ORDER | typeof DELETE_SCALARS, string>> = {
  [SET_ORDER]: 'invalid patch format of setElementOrder list',
  [DELETE_SCALARS]: 'invalid patch format of primitive list',
};

export const isDirective = (name: string): boolean =>
  name === PATCH || name === RETAIN_KEYS || name.startsWith(SET_ORDER) || name.startsWith(DELETE_SCALARS);

/**
 * Returns the name of the list that a directive is for, or `undefined` if `name` is not this directive. Throws if the directive does not
 * name a list.
 */
export function listOfDirective(name: string, directive: keyof typeof LIST_DIRECTIVES): string | undefined {
  if (!name.startsWith(directive)) return undefined;
  if (name[directive.length] !== '/') throw patchError('invalid_argument', LIST_DIRECTIVES[directive]);
  return name.slice(directive.length + 1);
}

export const hasPatchDirective = (value: unknown): value is JsonObject =>
  isJsonObject(value) && Object.hasOwn(value, PATCH);

/**
 * Returns a patch's value for a field that the original lacks: without nulls, directives, and objects that contain a `$patch`. Returns
 * `undefined` if nothing is left.
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
