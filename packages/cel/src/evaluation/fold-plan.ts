/** Plans of loops (folds), which macros such as `all` and `map` expand to. */
import { GrowingMap } from '../functions/lists.ts';
import { CelError, CelList, CelMap, noOverload, type Value } from '../values/values.ts';
import { noKey } from './access.ts';
import type { Frame, Plan } from './frame.ts';

export type FoldParts = {
  readonly range: Plan;
  readonly start: Plan;
  readonly condition: Plan;
  readonly step: Plan;
  readonly result: Plan;
  readonly variable: number;
  readonly second: number | undefined;
  readonly accumulator: number;
};

/** Returns the plan of a loop (fold). */
export function foldPlan(parts: FoldParts): Plan {
  const { range, start, result, accumulator } = parts;
  return {
    evaluate: (frame) => {
      const values = range.evaluate(frame);
      const before = start.evaluate(frame);
      if (!(values instanceof CelList || values instanceof CelMap))
        throw new CelError(`got '${goType(values)}', expected iterable type`);
      frame.slots[accumulator] = before;
      for (const [first, second] of pairs(values, parts.second !== undefined)) {
        frame.slots[parts.variable] = first;
        if (parts.second !== undefined) frame.slots[parts.second] = second;
        if (!step(frame, parts)) break;
      }
      return result.evaluate(frame);
    },
  };
}

/** Runs one iteration of a loop. Returns whether the loop continues. */
function step(frame: Frame, { condition, step: next, accumulator }: FoldParts): boolean {
  if (condition.evaluate(frame) !== true) return false;
  // upstream's cost of an iteration can be 0, so iterations count as steps as well
  frame.meter.spend(1);
  try {
    frame.slots[accumulator] = next.evaluate(frame);
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    frame.slots[accumulator] = error;
    // only the loop's condition can absorb an error in the accumulator; a loop without a condition therefore ends with the error
    return condition.constant === undefined;
  }
  return true;
}

/** Yields the keys and values of a list or map. Like upstream, yields an error as the value of an object's null field. */
function* pairs(values: CelList | CelMap, hasSecond: boolean): Iterable<readonly [Value, Value | CelError]> {
  if (values instanceof CelList) {
    for (let index = 0; index < values.size; index++) {
      const element = values.at(index);
      yield hasSecond ? [BigInt(index), element] : [element, null];
    }
  } else for (const key of values.keys()) yield [key, hasSecond ? (values.get(key) ?? noKey(key)) : null];
}

const GO_TYPES: Readonly<Record<string, string>> = {
  string: 'types.String',
  bigint: 'types.Int',
  number: 'types.Double',
  boolean: 'types.Bool',
};

const goType = (value: Value): string => GO_TYPES[typeof value] ?? 'types.Null';

/** A list that a loop appends to in place, which is safe because nothing else refers to it before the loop ends. */
class GrowingList extends CelList {
  readonly #values: Value[] = [];

  get size(): number {
    return this.#values.length;
  }

  at(index: number): Value {
    return this.#values[index]!;
  }

  append(value: Value): void {
    this.#values.push(value);
  }
}

/** Returns the plan of a loop step that appends an element to the loop's list. */
export function appendPlan(accumulated: Plan, element: Plan): Plan {
  return {
    evaluate: (frame) => {
      const list = accumulated.evaluate(frame);
      const added = element.evaluate(frame);
      if (!(list instanceof CelList && added instanceof CelList)) throw noOverload();
      frame.meter.charge(1);
      const growing = list instanceof GrowingList ? list : copied(list);
      for (const value of added) growing.append(value);
      return growing;
    },
  };
}

function copied(list: CelList): GrowingList {
  const growing = new GrowingList();
  for (const value of list) growing.append(value);
  return growing;
}

/** Returns the plan of a loop step that inserts a key and its value, or all entries of another map, into the loop's map. */
export function insertPlan(accumulated: Plan, parameters: readonly Plan[]): Plan {
  return {
    evaluate: (frame) => {
      const map = accumulated.evaluate(frame);
      const [key, value] = parameters.map(({ evaluate }) => evaluate(frame));
      const growing = map instanceof GrowingMap ? map : new GrowingMap();
      frame.meter.charge(1);
      if (value !== undefined) growing.insert(key!, value);
      else if (key instanceof CelMap) for (const [one, its] of key.entries()) growing.insert(one, its);
      else throw noOverload();
      return growing;
    },
  };
}
