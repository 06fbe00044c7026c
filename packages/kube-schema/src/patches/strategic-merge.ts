/** Strategic merge patch, matching the behavior of upstream's API server (k8s.io/apimachinery, util/strategicpatch). */
import { fieldOf, isJsonObject, type JsonObject, setField } from '../json.ts';
import type { StructType } from '../schema/field.ts';
import type { Schema } from '../schema/schema.ts';
import {
  DELETE_SCALARS,
  hasPatchDirective,
  isDirective,
  listOfDirective,
  PATCH,
  RETAIN_KEYS,
  SET_ORDER,
  withoutDirectives,
} from './directives.ts';
import { type Identity, orderElements } from './element-order.ts';
import { formatGoText } from './go-value.ts';
import { identityOf, mergeList, removeScalars } from './merge-list.ts';
import { checkDepth, patchError, shownValue, wrongValue } from './patch-error.ts';
import { PatchPlace } from './patch-place.ts';

/**
 * Applies a strategic merge patch to an object. Modifies neither. The object must not contain fields that its type does not define. Throws
 * the errors in `patch-error.ts`.
 */
export function strategicMerge(
  original: JsonObject,
  patch: JsonObject,
  { schema, type }: { schema: Schema; type: StructType },
): JsonObject {
  checkDepth(patch);
  return mergeObjects(original, patch, PatchPlace.of(schema, type));
}

function mergeObjects(original: JsonObject, patch: JsonObject, place: PatchPlace): JsonObject {
  if (Object.hasOwn(patch, PATCH)) return directed(patch);
  const result = retained(original, patch);
  const entries = Object.entries(patch);
  for (const [name, order] of entries) {
    const list = listOfDirective(name, SET_ORDER);
    if (list !== undefined) orderList(result, { patch, name: list, order, place });
  }
  for (const [name, value] of entries) {
    const list = listOfDirective(name, DELETE_SCALARS);
    if (list !== undefined) removeFromList(result, list, value);
    if (isDirective(name) || Object.hasOwn(patch, `${SET_ORDER}/${name}`)) continue;
    const merged = value === null ? undefined : mergeField(fieldOf(result, name), value, { place, name });
    if (merged === undefined) delete result[name];
    else setField(result, name, merged);
  }
  return result;
}

/** Returns the result of applying a patch that contains a `$patch` directive to an object. */
function directed(patch: JsonObject): JsonObject {
  const { [PATCH]: directive, ...rest } = patch;
  if (directive === 'replace') return withoutDirectives(rest) as JsonObject;
  if (directive === 'delete') return {};
  throw patchError('internal', `unknown patch type: ${formatGoText(directive)} in map: ${shownValue(patch)}`);
}

/**
 * Returns a copy of the original. If the patch contains `$retainKeys`, only the fields listed there are kept; the list must include all
 * fields in the patch.
 */
function retained(original: JsonObject, patch: JsonObject): JsonObject {
  if (!Object.hasOwn(patch, RETAIN_KEYS)) return { ...original };
  const keys = new Set(Array.isArray(patch[RETAIN_KEYS]) ? patch[RETAIN_KEYS] : undefined);
  const changed = Object.keys(patch).filter((name) => patch[name] !== null && !isDirective(name));
  if (!Array.isArray(patch[RETAIN_KEYS]) || changed.some((name) => !keys.has(name)))
    throw patchError('invalid_argument', 'invalid patch format of retainKeys');
  return Object.fromEntries(Object.entries(original).filter(([name]) => keys.has(name)));
}

type At = { place: PatchPlace; name: string };

/** Returns a field's value after the patch, or `undefined` if the field is removed. */
function mergeField(original: unknown, value: unknown, { place, name }: At): unknown {
  if (isJsonObject(original) && isJsonObject(value)) {
    const below = place.at(name);
    return below.strategy.replace ? value : mergeObjects(original, value, below);
  }
  if (!Array.isArray(original) || !Array.isArray(value)) return withoutDirectives(value);
  const below = place.at(name);
  return below.strategy.merge ? mergeLists(original, value, { place: below }) : value;
}

/** Merges a list with the list in a patch. `order` is the value of `$setElementOrder`. */
function mergeLists(
  original: unknown[],
  patch: unknown[],
  { place, order }: { place: PatchPlace; order?: unknown[] },
): unknown[] {
  if (original.length === 0 && patch.length === 0) return original;
  const { mergeKey } = place.strategy;
  return mergeList(original, patch, { mergeKey, order, mergeElement: (one, other) => mergeObjects(one, other, place) });
}

/**
 * Removes scalars from a list. Like upstream, removes the whole list if `removed` is null, and does nothing if `removed` is neither null
 * nor a list.
 */
function removeFromList(result: JsonObject, name: string, removed: unknown): void {
  const list = fieldOf(result, name);
  if (removed === null) delete result[name];
  else if (Array.isArray(list) && Array.isArray(removed)) setField(result, name, removeScalars(list, removed));
}

type Ordering = { patch: JsonObject; name: string; order: unknown; place: PatchPlace };

/** Merges and orders a list that has a `$setElementOrder`, even if the patch contains no elements for it. */
function orderList(result: JsonObject, { patch, name, order, place }: Ordering): void {
  if (!Array.isArray(order)) throw wrongValue('[]interface {}', order);
  const [before, elements] = [fieldOf(result, name), fieldOf(patch, name)];
  for (const one of [before, elements])
    if (one !== undefined && !Array.isArray(one)) throw wrongValue('[]interface {}', one);
  const below = place.at(name);
  const identity = identityOf(below.strategy.mergeKey);
  if (Array.isArray(elements)) checkOrder(elements, order, identity);
  if (Array.isArray(before) && Array.isArray(elements))
    setField(result, name, below.strategy.merge ? mergeLists(before, elements, { place: below, order }) : elements);
  else if (Array.isArray(before)) setField(result, name, orderElements(before, { order, server: before, identity }));
  else if (Array.isArray(elements))
    setField(result, name, orderElements(withoutDirectives(elements) as unknown[], { order, server: [], identity }));
}

/** Throws if the patch's elements are not in the order given by `$setElementOrder`. */
function checkOrder(elements: unknown[], order: unknown[], identity: Identity): void {
  let next = 0;
  for (const element of elements.filter((one) => !hasPatchDirective(one))) {
    while (next < order.length && identity(order[next]) !== identity(element)) next++;
    if (next++ === order.length && order.length > 0) {
      const [patched, ordered] = [shownValue(elements), shownValue(order)];
      const message = `The order in patch list:\n${patched}\n doesn't match ${SET_ORDER} list:\n${ordered}\n`;
      throw patchError('internal', message);
    }
  }
}
