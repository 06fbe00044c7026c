/** Plans of operators that can return a result although an operand has failed or is not evaluated, such as `&&` and `?:`. */
import { CelError, noOverload, Optional, type Value } from '../values/values.ts';
import type { Evaluate, Frame, Plan } from './frame.ts';
import { attributePlan } from './frame.ts';

/** Returns the plan of `&&` or `||`. `decisive` is the operand value that short-circuits: false for `&&`, true for `||`. */
export function logicalPlan(operands: readonly Plan[], decisive: boolean): Plan {
  return {
    evaluate: (frame) => {
      let failure: CelError | undefined;
      for (const operand of operands) {
        const value = attempt(operand, frame);
        if (value === decisive) return decisive;
        if (typeof value !== 'boolean') failure ??= value instanceof CelError ? value : noOverload();
      }
      if (failure !== undefined) throw failure;
      return !decisive;
    },
  };
}

function attempt({ evaluate }: Plan, frame: Frame): Value | CelError {
  try {
    return evaluate(frame);
  } catch (error) {
    if (error instanceof CelError) return error;
    throw error;
  }
}

/** Returns the plan of `@not_strictly_false`, which loop conditions use: true unless the operand is false, even if the operand fails. */
export const notFalsePlan = (operand: Plan): Plan => ({
  evaluate: (frame) => {
    const value = attempt(operand, frame);
    frame.meter.charge(1);
    return value !== false;
  },
});

/** Returns the plan of the `?:` operator. Only the selected branch is evaluated. */
export function conditionalPlan(condition: Plan, then: Plan, otherwise: Plan): Plan {
  const [chosen, other] = [branch(then), branch(otherwise)];
  return attributePlan((frame) => {
    const value = condition.evaluate(frame);
    if (typeof value !== 'boolean') throw noOverload();
    return value ? chosen(frame) : other(frame);
  }, 0);
}

const branch = ({ evaluate, attribute }: Plan): Evaluate => attribute?.resolve ?? evaluate;

/** Returns the plan of `or` on optional values or, with `unwraps`, of `orValue`. */
export function alternativePlan(first: Plan, second: Plan, unwraps: boolean): Plan {
  return {
    evaluate: (frame) => {
      const value = first.evaluate(frame);
      if (!(value instanceof Optional)) throw noOverload();
      if (value.value === undefined) return second.evaluate(frame);
      return unwraps ? value.value : value;
    },
  };
}
