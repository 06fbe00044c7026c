/** Plans of message literals, such as `Object{…}` in mutations. A message is a map keyed by field name. */
import { Message, noOverload, Optional, type Value } from '../values/values.ts';
import type { Plan } from './frame.ts';

const MESSAGE_COST = 40;

/** Returns the plan of a message literal such as `Object.spec{replicas: 1}`. Optional fields without a value are omitted. */
export function messagePlan(
  typeName: string,
  fields: readonly { name: string; plan: Plan; isOptional: boolean }[],
): Plan {
  return {
    evaluate: (frame) => {
      const entries = new Map<unknown, readonly [Value, Value]>();
      for (const { name, plan, isOptional } of fields) {
        const given = plan.evaluate(frame);
        if (isOptional && !(given instanceof Optional)) throw noOverload();
        const value = isOptional ? (given as Optional).value : given;
        if (value !== undefined) entries.set(name, [name, value]);
      }
      frame.meter.charge(MESSAGE_COST);
      return new Message(typeName, entries);
    },
  };
}
