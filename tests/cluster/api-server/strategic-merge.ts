/** Strategic merge patch (Kubernetes design: "strategic-merge-patch", "preserve-order-in-strategic-merge-patch", "add-new-patchStrategy"). */
import { isObject, type JsonObject, sameJson } from './json.ts';
import { type MergeRule, mergeRule } from './merge-keys.ts';
import { badRequest, internalError } from './status-error.ts';

const ORDER = '$setElementOrder/';
const REMOVE_SCALARS = '$deleteFromPrimitiveList/';
const RETAIN = '$retainKeys';
const DIRECTIVE = '$patch';

/** Applies a patch to an object of a kind; modifies neither. */
export function strategicMerge(kind: string, original: JsonObject, patch: JsonObject): JsonObject {
  return mergeObjects(original, patch, { kind, path: [] });
}

type Place = { kind: string; path: readonly string[] };

const below = ({ kind, path }: Place, field: string): Place => ({ kind, path: [...path, field] });

function mergeObjects(original: JsonObject, patch: JsonObject, place: Place): JsonObject {
  switch (patch[DIRECTIVE]) {
    case 'replace':
      return withoutDirectives(patch);
    case undefined:
    case 'merge':
      break;
    default:
      throw badRequest(`unknown ${DIRECTIVE} type: ${String(patch[DIRECTIVE])}`);
  }
  const result = retained(original, patch);
  for (const [field, value] of Object.entries(patch)) {
    if (field.startsWith('$')) continue;
    if (value === null || (isObject(value) && value[DIRECTIVE] === 'delete')) delete result[field];
    else result[field] = mergeField(result[field], value, { patch, field, place });
  }
  orderUnpatchedLists(result, patch, place);
  return result;
}

function retained(original: JsonObject, patch: JsonObject): JsonObject {
  const keys = patch[RETAIN];
  if (keys === undefined) return { ...original };
  if (!Array.isArray(keys)) throw badRequest(`invalid patch format of ${RETAIN}`);
  return Object.fromEntries(Object.entries(original).filter(([field]) => keys.includes(field)));
}

type Field = { patch: JsonObject; field: string; place: Place };

function mergeField(original: unknown, value: unknown, { patch, field, place }: Field): unknown {
  const inner = below(place, field);
  if (isObject(value)) return mergeObjects(isObject(original) ? original : {}, value, inner);
  if (!Array.isArray(value)) return value;
  const rule = mergeRule(inner.kind, inner.path);
  const current = Array.isArray(original) ? original : [];
  if (rule === undefined) return value;
  const merged = rule.key === undefined ? mergeScalars(current, value, patch[REMOVE_SCALARS + field]) : undefined;
  const list = merged ?? mergeElements(current, value, { key: rule.key!, place: inner });
  return ordered(list, { patched: value, order: patch[ORDER + field], current, rule });
}

/** Orders lists for which the patch has an order or removals, but no elements. */
function orderUnpatchedLists(result: JsonObject, patch: JsonObject, place: Place): void {
  for (const [directive, value] of Object.entries(patch)) {
    const prefix = [ORDER, REMOVE_SCALARS].find((start) => directive.startsWith(start));
    if (prefix === undefined) continue;
    const field = directive.slice(prefix.length);
    const list = result[field];
    if (Object.hasOwn(patch, field) || !Array.isArray(list)) continue;
    const inner = below(place, field);
    const rule = mergeRule(inner.kind, inner.path);
    if (rule === undefined) continue;
    result[field] =
      prefix === ORDER
        ? ordered(list, { patched: [], order: value, current: list, rule })
        : mergeScalars(list, [], value);
  }
}

function mergeScalars(current: unknown[], added: unknown[], removed: unknown): unknown[] {
  const gone = Array.isArray(removed) ? removed : [];
  return [...new Set([...current.filter((value) => !gone.includes(value)), ...added])];
}

function mergeElements(
  current: unknown[],
  patched: unknown[],
  { key, place }: { key: string; place: Place },
): unknown[] {
  const keyOf = (element: unknown) => {
    const value = isObject(element) ? element[key] : undefined;
    if (value === undefined)
      throw internalError(`map: ${JSON.stringify(element)} does not contain declared merge key: ${key}`);
    return value;
  };
  const directives = patched.filter((element) => isObject(element) && element[DIRECTIVE] !== undefined) as JsonObject[];
  const elements = patched.filter((element) => !directives.includes(element as JsonObject));
  if (directives.some((element) => element[DIRECTIVE] === 'replace')) return elements;
  const removed = directives.filter((element) => element[DIRECTIVE] === 'delete').map(keyOf);
  const result = current.filter((element) => !removed.includes(keyOf(element)));
  const merging = directives.filter((element) => element[DIRECTIVE] === 'merge');
  for (const element of [...elements, ...merging]) {
    const index = result.findIndex((other) => keyOf(other) === keyOf(element));
    const before = index < 0 ? {} : (result[index] as JsonObject);
    const merged = mergeObjects(before, element as JsonObject, place);
    if (index < 0) result.push(merged);
    else result[index] = merged;
  }
  return result;
}

type Order = { patched: unknown[]; order: unknown; current: unknown[]; rule: MergeRule };

/**
 * Orders a list: elements of the patch in the patch's order, if it has one, and the server's other elements at their old positions between
 * them. New elements thus precede elements that are not in the patch.
 */
function ordered(list: unknown[], { patched, order: given, current, rule }: Order): unknown[] {
  const order = Array.isArray(given) ? given : patched.filter((one) => !isObject(one) || one[DIRECTIVE] === undefined);
  const keyOf = (element: unknown) => (rule.key === undefined || !isObject(element) ? element : element[rule.key]);
  const indexIn = (elements: unknown[], element: unknown) =>
    elements.findIndex((other) => sameJson(keyOf(other), keyOf(element)));
  const result = list
    .filter((element) => indexIn(order, element) >= 0)
    .sort((one, other) => indexIn(order, one) - indexIn(order, other));
  let from = 0;
  for (const element of list.filter((candidate) => indexIn(order, candidate) < 0)) {
    const place = indexIn(current, element);
    const next = result.findIndex((other, index) => index >= from && place >= 0 && indexIn(current, other) > place);
    const index = next < 0 ? result.length : next;
    result.splice(index, 0, element);
    from = index + 1;
  }
  return result;
}

/** A patch's value for a field that does not exist yet. */
function withoutDirectives(patch: JsonObject): JsonObject {
  const fields = Object.entries(patch).filter(([field, value]) => !field.startsWith('$') && value !== null);
  return Object.fromEntries(
    fields.map(([field, value]) => [field, isObject(value) ? withoutDirectives(value) : value]),
  );
}
