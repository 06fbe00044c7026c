/** Concatenates lists of the types `set` and `map` (apiserver, pkg/cel/common). */
import { isEqual, type Work } from '../values/comparison.ts';
import { CelList, CelMap, type ListMode, type Value } from '../values/values.ts';

/** Merges list `other` into list `one`: appends missing elements; in lists of type `map`, replaces elements with the same keys. */
export function mergedLists(one: CelList, other: CelList, work: Work): CelList {
  const { mode } = one;
  const elements = [...one];
  for (const element of other) {
    const index = elements.findIndex((known) => isSameElement(known, element, { mode, work }));
    if (index < 0) elements.push(element);
    else elements[index] = element;
  }
  return new MergedList(elements, mode);
}

function isSameElement(one: Value, other: Value, { mode, work }: { mode: ListMode; work: Work }): boolean {
  if (typeof mode === 'string' || !(one instanceof CelMap) || !(other instanceof CelMap))
    return isEqual(one, other, work);
  return mode.keys.every((key) => {
    const [value, otherValue] = [one.get(key), other.get(key)];
    if (value === undefined || otherValue === undefined) return value === otherValue;
    return isEqual(value, otherValue, work);
  });
}

class MergedList extends CelList {
  override readonly mode: ListMode;
  readonly #elements: readonly Value[];

  constructor(elements: readonly Value[], mode: ListMode) {
    super();
    this.mode = mode;
    this.#elements = elements;
  }

  get size(): number {
    return this.#elements.length;
  }

  at(index: number): Value {
    return this.#elements[index]!;
  }
}
