import { isJsonObject, type JsonObject, setField } from '../json.ts';
import type { FieldSet } from './field-set.ts';
import { listElement, type Node, nodeFor } from './node.ts';
import { fieldElement } from './path-element.ts';

/** Returns a value without the fields in the set (structured-merge-diff, typed.RemoveItems), or `undefined` if nothing is left. */
export function removeItems(given: Node, value: unknown, set: FieldSet): unknown {
  const node = nodeFor(given, value);
  if (set.isEmpty || node.kind === 'leaf') return value;
  if (node.kind === 'list') return Array.isArray(value) ? removeElements(node, value, set) : value;
  return isJsonObject(value) ? removeFields(node, value, set) : value;
}

function removeElements(node: Node & { kind: 'list' }, list: unknown[], set: FieldSet): unknown[] | undefined {
  const result = list.flatMap((value) => {
    const element = listElement(node, value);
    const remaining = set.members.has(element) ? undefined : removeItems(node.element, value, set.below(element));
    return remaining === undefined ? [] : [remaining];
  });
  return result.length === 0 ? undefined : result;
}

/** Removes the set's members from an object. A field that is not a member but loses all of its content becomes null. */
function removeFields(node: Node & { kind: 'map' }, object: JsonObject, set: FieldSet): JsonObject | undefined {
  const result: JsonObject = {};
  for (const [name, value] of Object.entries(object)) {
    const element = fieldElement(name);
    if (set.members.has(element)) continue;
    setField(result, name, removeItems(node.at(name) ?? { kind: 'leaf' }, value, set.below(element)) ?? null);
  }
  return Object.keys(result).length === 0 ? undefined : result;
}
