import { isDeepStrictEqual } from 'node:util';
import { fieldOf, isJsonObject } from '../json.ts';
import { type FieldSet, FieldSetBuilder } from './field-set.ts';
import { isEmptyOrAbsent, listElement, type Node, nodeFor } from './node.ts';
import { fieldElement, type PathElement } from './path-element.ts';

/** The fields that differ between an object and an older version of itself. */
export type Comparison = { added: FieldSet; modified: FieldSet; removed: FieldSet };

/** Compares two objects (structured-merge-diff, typed.Compare). Values that both objects share in memory are skipped. */
export function compareObjects(node: Node, before: unknown, after: unknown): Comparison {
  const comparer = new ObjectComparer();
  comparer.compare(node, before, after);
  return comparer.result();
}

/** Compares two objects field by field. The value of an absent field is `undefined`. */
class ObjectComparer {
  readonly #added = new FieldSetBuilder();
  readonly #modified = new FieldSetBuilder();
  readonly #removed = new FieldSetBuilder();
  readonly #path: PathElement[] = [];

  result(): Comparison {
    return { added: this.#added.build(), modified: this.#modified.build(), removed: this.#removed.build() };
  }

  compare(given: Node, before: unknown, after: unknown): void {
    if (before === after) return;
    const node = nodeFor(given, before, after);
    if (before === undefined) this.#added.insert(this.#path);
    else if (after === undefined) this.#removed.insert(this.#path);
    const isLeaf = node.kind === 'leaf' || (isEmptyOrAbsent(before) && isEmptyOrAbsent(after));
    if (isLeaf) {
      if (before !== undefined && after !== undefined && !isDeepStrictEqual(before, after))
        this.#modified.insert(this.#path);
    } else if (node.kind === 'list') this.#compareLists(node, before, after);
    else this.#compareMaps(node, before, after);
  }

  #compareMaps(node: Node & { kind: 'map' }, before: unknown, after: unknown): void {
    const [one, other] = [isJsonObject(before) ? before : {}, isJsonObject(after) ? after : {}];
    const added = Object.keys(other).filter((name) => !Object.hasOwn(one, name));
    for (const name of [...Object.keys(one), ...added]) {
      const [old, now] = [fieldOf(one, name), fieldOf(other, name)];
      if (old === now) continue; // most fields: no path is needed for them
      this.#path.push(fieldElement(name));
      this.compare(node.at(name) ?? { kind: 'leaf' }, old, now);
      this.#path.pop();
    }
  }

  #compareLists(node: Node & { kind: 'list' }, before: unknown, after: unknown): void {
    const [olds, news] = [before, after].map((value) => byElement(node, Array.isArray(value) ? value : []));
    for (const element of new Set([...olds!.keys(), ...news!.keys()])) {
      this.#path.push(element);
      this.#compareElements(node.element, olds!.get(element) ?? [], news!.get(element) ?? []);
      this.#path.pop();
    }
  }

  /**
   * Compares the elements of two lists that have the same key. If either list has several elements with this key, as in some old objects,
   * all of them are compared as a whole.
   */
  #compareElements(node: Node, olds: unknown[], news: unknown[]): void {
    if (olds.length <= 1 && news.length <= 1) this.compare(node, olds[0], news[0]);
    else if (olds.length > 1 && news.length > 1) {
      if (!isDeepStrictEqual(olds, news)) this.#modified.insert(this.#path);
    } else if (olds.length > 1) {
      if (news.length > 0) this.compare(node, undefined, news[0]);
      this.#removed.insert(this.#path);
    } else {
      if (olds.length > 0) this.compare(node, olds[0], undefined);
      this.#added.insert(this.#path);
    }
  }
}

function byElement(node: Node & { kind: 'list' }, list: unknown[]): Map<PathElement, unknown[]> {
  return Map.groupBy(list, (value) => listElement(node, value));
}
