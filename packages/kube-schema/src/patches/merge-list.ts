/** Merges lists for strategic merge patches. */
import { fieldOf, isJsonObject, type JsonObject } from '../json.ts';
import { hasPatchDirective, PATCH, withoutDirectives } from './directives.ts';
import { type Identity, orderElements } from './element-order.ts';
import { formatGoText } from './go-value.ts';
import { noMergeKey, patchError, shownValue, wrongValue } from './patch-error.ts';

type MergeElement = (original: JsonObject, patch: JsonObject) => JsonObject;

type ListMerge = {
  /** The field that identifies list elements; `undefined` for a list of scalars. */
  mergeKey: string | undefined;
  mergeElement: MergeElement;
  /** The value of `$setElementOrder`. Default: the order of the elements in the patch. */
  order?: readonly unknown[];
};

/** Returns the merged list. Modifies neither input. */
export function mergeList(
  original: unknown[],
  patch: unknown[],
  { mergeKey, mergeElement, order }: ListMerge,
): unknown[] {
  const isOfObjects = checkElements(original, patch);
  if (!isOfObjects) {
    const merged = [...new Set([...original, ...patch])];
    return orderElements(merged, { order: order ?? patch, server: original, identity: itself });
  }
  if (mergeKey === undefined) throw patchError('internal', 'cannot merge lists without merge key for slice');
  const identity = byKey(mergeKey);
  const { remaining, elements } = withDirectives(original, patch, identity);
  const merged = mergeElements(remaining, elements, { identity, mergeElement });
  // a merged element has no merge key if the patch sets the key to null, so it has no place in the order
  const ofMerged: Identity = (element) =>
    fieldOf(element as JsonObject, mergeKey) === undefined ? null : identity(element);
  return orderElements(merged, { order: order ?? elements, server: original, identity: ofMerged });
}

/** Removes the given scalars from a list. */
export function removeScalars(list: unknown[], removed: readonly unknown[]): unknown[] {
  const removals = new Set(removed);
  return list.filter((value) => !removals.has(value));
}

/** Returns a function that identifies elements: by the merge key or, in a list of scalars, by the element itself. */
export const identityOf = (mergeKey: string | undefined): Identity =>
  mergeKey === undefined ? itself : byKey(mergeKey);

const itself: Identity = (element) => element;

const byKey =
  (mergeKey: string): Identity =>
  (element) => {
    if (!isJsonObject(element)) throw wrongValue('map[string]interface {}', element);
    const value = fieldOf(element, mergeKey);
    if (value === undefined) throw noMergeKey(element, mergeKey);
    return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
  };

/** Returns whether the elements of both lists are objects. Throws if they are not all of the same type or if any of them is a list. */
function checkElements(original: unknown[], patch: unknown[]): boolean {
  const [first, ...others] = [...original, ...patch].map((element) =>
    Array.isArray(element) ? 'list' : element === null ? 'null' : typeof element,
  );
  if (first === 'list') throw patchError('internal', 'lists of lists are not supported');
  if (others.some((type) => type !== first))
    throw patchError('internal', `list element types are not identical: ${shownValue([original, patch])}`);
  return first === 'object';
}

/**
 * Applies the patch elements that contain a `$patch` directive. Returns the original elements that are left and the patch's other elements.
 */
function withDirectives(
  original: unknown[],
  patch: unknown[],
  identity: Identity,
): { remaining: unknown[]; elements: JsonObject[] } {
  const directives = patch.filter(hasPatchDirective);
  const elements = patch.filter((element) => !hasPatchDirective(element)) as JsonObject[];
  for (const directive of directives) {
    const type = directive[PATCH];
    if (type === 'merge') throw patchError('internal', 'merging lists cannot yet be specified in the patch');
    if (type !== 'replace' && type !== 'delete')
      throw patchError('internal', `unknown patch type: ${formatGoText(type)} in map: ${shownValue(directive)}`);
  }
  if (directives.some((directive) => directive[PATCH] === 'replace'))
    return { remaining: withoutDirectives(elements) as unknown[], elements: [] };
  const removed = new Set(directives.map(identity));
  return {
    remaining: removed.size === 0 ? original : original.filter((element) => !removed.has(identity(element))),
    elements,
  };
}

/** Merges each patch element into the first original element with the same merge key, or appends it. */
function mergeElements(
  original: unknown[],
  elements: JsonObject[],
  { identity, mergeElement }: { identity: Identity; mergeElement: MergeElement },
): unknown[] {
  const result = [...original];
  const places = new Map<unknown, number>();
  for (const [index, element] of original.entries())
    if (!places.has(identity(element))) places.set(identity(element), index);
  for (const element of elements) {
    const key = identity(element);
    const place = places.get(key);
    if (place === undefined) places.set(key, result.push(withoutDirectives(element)) - 1);
    else result[place] = mergeElement(result[place] as JsonObject, element);
  }
  return result;
}
