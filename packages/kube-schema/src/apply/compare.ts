import { isDeepStrictEqual } from 'node:util';
import { fieldOf, isJsonObject } from '../json.ts';
import { type FieldSet, FieldSetBuilder, type Path } from './field-set.ts';
import { isEmptyOrAbsent, listElement, type Node, nodeFor } from './node.ts';
import { fieldElement, type PathElement } from './path-element.ts';

/** The fields in which an object differs from an older version of itself. */
export type Comparison = { added: FieldSet; modified: FieldSet; removed: FieldSet };

type Sets = Record<keyof Comparison, FieldSetBuilder>;

/** One field of both objects; `before` or `after` is `undefined` where it is absent. */
type Pair = { node: Node; before: unknown; after: unknown; path: Path };

/** Compares two objects (structured-merge-diff, typed.Compare). */
export function compareObjects(node: Node, before: unknown, after: unknown): Comparison {
  const sets: Sets = { added: new FieldSetBuilder(), modified: new FieldSetBuilder(), removed: new FieldSetBuilder() };
  compare({ node, before, after, path: [] }, sets);
  return { added: sets.added.build(), modified: sets.modified.build(), removed: sets.removed.build() };
}

function compare(pair: Pair, sets: Sets): void {
  const { before, after, path } = pair;
  const node = nodeFor(pair.node, before, after);
  if (before === undefined) sets.added.insert(path);
  else if (after === undefined) sets.removed.insert(path);
  const isLeaf = node.kind === 'leaf' || (isEmptyOrAbsent(before) && isEmptyOrAbsent(after));
  if (isLeaf) {
    if (before !== undefined && after !== undefined && !isDeepStrictEqual(before, after)) sets.modified.insert(path);
  } else if (node.kind === 'list') compareLists({ ...pair, node }, sets);
  else compareMaps({ ...pair, node }, sets);
}

function compareMaps({ node, before, after, path }: Pair & { node: { kind: 'map' } }, sets: Sets): void {
  const [one, other] = [before, after].map((value) => (isJsonObject(value) ? value : {}));
  for (const name of new Set([...Object.keys(one!), ...Object.keys(other!)])) {
    const below = { before: fieldOf(one!, name), after: fieldOf(other!, name), path: [...path, fieldElement(name)] };
    compare({ node: node.at(name) ?? { kind: 'leaf' }, ...below }, sets);
  }
}

/** Compares list elements by key. Elements with a duplicate key, which old objects may contain, are compared as a whole. */
function compareLists({ node, before, after, path }: Pair & { node: { kind: 'list' } }, sets: Sets): void {
  const [olds, news] = [before, after].map((value) => byElement(node, Array.isArray(value) ? value : []));
  for (const element of new Set([...olds!.keys(), ...news!.keys()])) {
    const [one, other] = [olds!.get(element) ?? [], news!.get(element) ?? []];
    const below = [...path, element];
    const each = (values: { before?: unknown; after?: unknown }) =>
      compare({ node: node.element, before: values.before, after: values.after, path: below }, sets);
    if (one.length <= 1 && other.length <= 1) each({ before: one[0], after: other[0] });
    else if (one.length > 1 && other.length > 1) {
      if (!isDeepStrictEqual(one, other)) sets.modified.insert(below);
    } else if (one.length > 1) {
      if (other.length > 0) each({ after: other[0] });
      sets.removed.insert(below);
    } else {
      if (one.length > 0) each({ before: one[0] });
      sets.added.insert(below);
    }
  }
}

function byElement(node: Node & { kind: 'list' }, list: unknown[]): Map<PathElement, unknown[]> {
  return Map.groupBy(list, (value) => listElement(node, value));
}
