/** Plans of list and map literals. */
import { LIST_COST, MAP_COST } from '../functions/overload.ts';
import { CelError, mapKey, noOverload, Optional, typeName, type Value, ValueList, ValueMap } from '../values/values.ts';
import { constantPlan, type Frame, type Plan } from './frame.ts';

type Part = { readonly plan: Plan; readonly isOptional: boolean };

/** Returns the plan of a list literal. A list of constants is itself a constant. */
export function listPlan(elements: readonly Part[]): Plan {
  if (elements.every(({ plan, isOptional }) => plan.constant !== undefined && !isOptional))
    return constantPlan(new ValueList(elements.map(({ plan }) => plan.constant!.value)));
  return {
    evaluate: (frame) => {
      const values: Value[] = [];
      for (const element of elements) {
        const value = elementValue(element, frame);
        if (value !== undefined) values.push(value);
      }
      frame.meter.charge(LIST_COST);
      return new ValueList(values);
    },
  };
}

/** Returns the plan of a map literal. A map of constants is itself a constant. */
export function mapPlan(entries: readonly (Part & { readonly key: Plan })[]): Plan {
  const evaluate = (frame: Frame): ValueMap => {
    const found = new Map<unknown, readonly [Value, Value]>();
    for (const entry of entries) {
      const key = entry.key.evaluate(frame);
      const value = elementValue(entry, frame);
      const known = mapKey(key);
      if (known === undefined) throw new CelError(`unsupported key type: ${typeName(key)}`);
      if (value !== undefined) found.set(known, [key, value]);
    }
    frame.meter.charge(MAP_COST);
    return new ValueMap(found);
  };
  const isConstant = entries.every(({ key, plan, isOptional }) => key.constant && plan.constant && !isOptional);
  if (!isConstant) return { evaluate };
  const found = entries.map(({ key, plan }) => [key.constant!.value, plan.constant!.value] as const);
  if (found.some(([key]) => mapKey(key) === undefined)) return { evaluate };
  return constantPlan(new ValueMap(new Map(found.map(([key, value]) => [mapKey(key), [key, value]]))));
}

/** Evaluates an element of a list literal. Returns `undefined` for an optional element without a value, which the list omits. */
function elementValue({ plan, isOptional }: Part, frame: Frame): Value | undefined {
  const value = plan.evaluate(frame);
  if (!isOptional) return value;
  if (!(value instanceof Optional)) throw noOverload();
  return value.value;
}
