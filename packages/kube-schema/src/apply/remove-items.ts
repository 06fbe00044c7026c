import { isJsonObject, type JsonObject, setField } from '../json.ts';
import type { FieldSet } from './field-set.ts';
import { listElement, type Node } from './node.ts';
import { fieldElement, type PathElement } from './path-element.ts';

/** An object without the members of a set (structured-merge-diff, typed.RemoveItems); `undefined` if nothing remains. */
export function removeItems(node: Node, value: unknown, set: FieldSet): unknown {
  if (set.isEmpty || node.kind === 'leaf') return value;
  if (node.kind === 'list') return Array.isArray(value) ? removeElements(node, value, set) : value;
  return isJsonObject(value) ? removeFields(node, value, set) : value;
}

function removeElements(node: Node & { kind: 'list' }, list: unknown[], set: FieldSet): unknown[] | undefined {
  const result = list.flatMap((value) => {
    const remaining = remainder({ node: node.element, value, element: listElement(node, value) }, set);
    return remaining === undefined ? [] : [remaining];
  });
  return result.length === 0 ? undefined : result;
}

function removeFields(node: Node & { kind: 'map' }, object: JsonObject, set: FieldSet): JsonObject | undefined {
  const result: JsonObject = {};
  for (const [name, value] of Object.entries(object)) {
    const below = node.at(name) ?? { kind: 'leaf' };
    const remaining = remainder({ node: below, value, element: fieldElement(name) }, set);
    if (remaining !== undefined) setField(result, name, remaining);
  }
  return Object.keys(result).length === 0 ? undefined : result;
}

function remainder(
  { node, value, element }: { node: Node; value: unknown; element: PathElement },
  set: FieldSet,
): unknown {
  return set.members.has(element) ? undefined : removeItems(node, value, set.below(element));
}
