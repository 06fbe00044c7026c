import { isJsonObject } from '../json.ts';
import { FieldSet, FieldSetBuilder, type Path } from './field-set.ts';
import { listElement, type Node, nodeFor } from './node.ts';
import { fieldElement, type PathElement } from './path-element.ts';

/**
 * Returns the fields that a value sets (structured-merge-diff, typed.ToFieldSet). Throws `invalid_argument` for list elements that lack a
 * key.
 */
export function toFieldSet(node: Node, value: unknown): FieldSet {
  const set = new FieldSetBuilder();
  walk({ node, value, path: [] }, set);
  return set.build();
}

function walk({ node: given, value, path }: { node: Node; value: unknown; path: Path }, set: FieldSetBuilder): void {
  const node = nodeFor(given, value);
  if (node.kind === 'leaf') set.insert(path);
  else if (node.kind === 'list' && Array.isArray(value)) walkList({ node, value, path }, set);
  else if (node.kind === 'map' && isJsonObject(value))
    for (const [name, one] of Object.entries(value)) {
      const below = [...path, fieldElement(name)];
      walk({ node: node.at(name) ?? { kind: 'leaf' }, value: one, path: below }, set);
      const isEmpty = one === null || (isJsonObject(one) && Object.keys(one).length === 0);
      if (isEmpty || !node.isNamed(name)) set.insert(below);
    }
}

type ListValue = { node: Node & { kind: 'list' }; value: unknown[]; path: Path };

/** Adds a list's elements to the set. Elements with a duplicate key count as one field without subfields. */
function walkList({ node, value, path }: ListValue, set: FieldSetBuilder): void {
  const counts = new Map<PathElement, number>();
  const elements = value.map((one) => listElement(node, one));
  for (const element of elements) counts.set(element, (counts.get(element) ?? 0) + 1);
  for (const [index, element] of elements.entries()) {
    const below = [...path, element];
    set.insert(below);
    if (counts.get(element) === 1) walk({ node: node.element, value: value[index], path: below }, set);
  }
}

/**
 * Returns the set plus every struct field that has members below it. A field set usually contains only those members, not the struct
 * itself.
 */
export function withNamedFields(set: FieldSet, node: Node | undefined): FieldSet {
  const isNamed = (element: PathElement) =>
    node?.kind === 'map' && element.startsWith('f:') && node.isNamed(element.slice(2));
  const members = new Set([...set.members, ...[...set.children.keys()].filter(isNamed)]);
  const children = new Map<PathElement, FieldSet>();
  for (const [element, child] of set.children) children.set(element, withNamedFields(child, nodeBelow(node, element)));
  return new FieldSet(members, children);
}

/**
 * Adapts the set to the current types: an owner of fields below an atomic list or map owns the list or map itself. Sets contain such fields
 * if clients wrote them or if the type was not atomic before (structured-merge-diff, typed.ReconcileFieldSetWithSchema).
 */
export function withAtomicFields(set: FieldSet, node: Node | undefined): FieldSet {
  if (node === undefined || node.kind === 'deduced') return set;
  const atomic: PathElement[] = [];
  const children = new Map<PathElement, FieldSet>();
  let isSame = true;
  for (const [element, child] of set.children) {
    const below = nodeBelow(node, element);
    const isAtomic = below?.kind === 'leaf' && below.isAtomic === true;
    const next = isAtomic ? undefined : withAtomicFields(child, below);
    if (next === undefined) atomic.push(element);
    else children.set(element, next);
    isSame &&= next === child;
  }
  return isSame ? set : new FieldSet(new Set([...set.members, ...atomic]), children);
}

function nodeBelow(node: Node | undefined, element: PathElement): Node | undefined {
  if (node?.kind === 'deduced') return node;
  if (node?.kind === 'list') return node.element;
  return node?.kind === 'map' && element.startsWith('f:') ? node.at(element.slice(2)) : undefined;
}
