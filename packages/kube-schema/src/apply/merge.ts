import { PodwrightError } from '@podwright/base';
import { fieldOf, isJsonObject, type JsonObject, setField } from '../json.ts';
import { isEmptyOrAbsent, listElement, type Node, nodeFor } from './node.ts';
import { formatElements, type PathElement } from './path-element.ts';

/**
 * Merges an applied configuration into the live object (structured-merge-diff, typed.Merge). Modifies neither. Throws `invalid_argument` if
 * list elements in the configuration lack a key or have a duplicate key.
 */
export function mergeApplied(given: Node, live: unknown, applied: unknown): unknown {
  const node = nodeFor(given, live, applied);
  if (applied === undefined) return live;
  if (node.kind === 'leaf' || (isEmptyOrAbsent(live) && isEmptyOrAbsent(applied))) return applied;
  if (node.kind === 'list') return new ListMerge(node, asList(live), asList(applied)).merged();
  const [one, other] = [asObject(live), asObject(applied)];
  const result: JsonObject = {};
  for (const name of new Set([...Object.keys(one), ...Object.keys(other)]))
    setField(result, name, mergeApplied(node.at(name) ?? { kind: 'leaf' }, fieldOf(one, name), fieldOf(other, name)));
  return result;
}

const asList = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const asObject = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});

/**
 * Merges two lists. Applied elements keep the order of the configuration. Live elements that are not in the configuration keep their
 * positions relative to the elements that are in both lists.
 */
class ListMerge {
  readonly #node: Node & { kind: 'list' };
  readonly #live: unknown[];
  readonly #liveElements: PathElement[];
  readonly #appliedElements: PathElement[];
  /** Live list elements by path element; `undefined` for elements with a duplicate key, which are replaced as a whole. */
  readonly #liveByElement = new Map<PathElement, unknown>();
  readonly #appliedByElement = new Map<PathElement, unknown>();
  readonly #result: unknown[] = [];

  constructor(node: Node & { kind: 'list' }, live: unknown[], applied: unknown[]) {
    this.#node = node;
    this.#live = live;
    this.#liveElements = live.map((value) => listElement(node, value));
    this.#appliedElements = applied.map((value) => listElement(node, value));
    for (const [index, element] of this.#liveElements.entries())
      this.#liveByElement.set(element, this.#liveByElement.has(element) ? undefined : live[index]);
    for (const [index, element] of this.#appliedElements.entries()) {
      if (this.#appliedByElement.has(element))
        throw new PodwrightError('invalid_argument', `duplicate entries for key ${formatElements([element])}`);
      this.#appliedByElement.set(element, applied[index]);
    }
  }

  merged(): unknown[] {
    const shared = this.#appliedElements.filter((element) => this.#liveByElement.has(element));
    const taken = new Set<PathElement>();
    let [left, right, nextShared] = [0, 0, 0];
    const take = (element: PathElement) => {
      taken.add(element);
      this.#take(element);
      right++;
      if (shared[nextShared] === element) nextShared++;
    };
    while (left < this.#liveElements.length || right < this.#appliedElements.length) {
      const [live, applied] = [this.#liveElements[left], this.#appliedElements[right]];
      if (live !== undefined && live === applied) {
        take(applied);
        left++;
      } else if (live !== undefined && this.#isWaitedFor(live, applied, shared[nextShared])) left++;
      else if (live !== undefined && !this.#appliedByElement.has(live)) {
        // take the live element by position, because elements with duplicate keys share one map entry
        this.#result.push(this.#live[left]);
        left++;
      } else {
        if (live !== undefined && taken.has(live)) left++;
        if (applied !== undefined) take(applied);
      }
    }
    return this.#result;
  }

  /**
   * Whether a live element is skipped at its live position and emitted at its position in the applied configuration instead, because
   * another element present in both lists precedes it there.
   */
  #isWaitedFor(live: PathElement, applied: PathElement | undefined, nextShared: PathElement | undefined): boolean {
    return applied !== undefined && this.#appliedByElement.has(live) && nextShared !== undefined && nextShared !== live;
  }

  #take(element: PathElement): void {
    const [live, applied] = [this.#liveByElement.get(element), this.#appliedByElement.get(element)];
    this.#result.push(mergeApplied(this.#node.element, live, applied));
  }
}
