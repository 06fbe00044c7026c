import type { CelError, Value } from '../values/values.ts';
import type { Meter } from './meter.ts';

/** The state of one evaluation. */
export type Frame = {
  readonly meter: Meter;
  /** Variables of loops, by their slots. An error is thrown when the variable is read. */
  readonly slots: (Value | CelError)[];
  /** Returns a variable of the environment. Throws `CelError`. */
  readonly variable: (name: string) => Value;
};

/** Computes the value of an expression. Throws `CelError` and `CostExceeded`. */
export type Evaluate = (frame: Frame) => Value;

/**
 * How a part of an expression is evaluated. An attribute is a variable, or fields and elements of a value: as a branch of a condition or as
 * an index, its root is not charged (cel-go, interpreter/attributes.go).
 */
export type Plan = {
  readonly evaluate: Evaluate;
  readonly attribute?: { readonly resolve: Evaluate; readonly rootCost: number };
  /** Set if the value is known without an evaluation. */
  readonly constant?: { readonly value: Value };
};

export const constantPlan = (value: Value): Plan => ({ evaluate: () => value, constant: { value } });

/** Returns the plan of an attribute, whose root costs a step, or nothing if it is a condition. */
export const attributePlan = (resolve: Evaluate, rootCost: number): Plan => ({
  evaluate: (frame) => {
    if (rootCost > 0) frame.meter.charge(rootCost);
    return resolve(frame);
  },
  attribute: { resolve, rootCost },
});
