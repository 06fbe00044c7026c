/** Plans of messages that expressions create, such as `Object{…}` of mutations: maps with the fields as keys. */
import { Message, noOverload, Optional, type Value } from '../values/values.ts';
import type { Plan } from './frame.ts';

const MESSAGE_COST = 40;

/** Returns the plan that creates a message, such as `Object.spec{replicas: 1}`. An optional field without a value is left out. */
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
