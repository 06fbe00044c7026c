import type { CelError, Value } from '../values/values.ts';
import type { Meter } from './meter.ts';

/** The state of one evaluation. */
export type Frame = {
  readonly meter: Meter;
  /** The variables of loops, by slot numbers. An error is thrown when its variable is read. */
  readonly slots: (Value | CelError)[];
  /** Returns a variable of the environment. Throws `CelError`. */
  readonly variable: (name: string) => Value;
};

/** Computes the value of an expression. Throws `CelError` and `CostExceeded`. */
export type Evaluate = (frame: Frame) => Value;

/**
 * How a part of an expression is evaluated. `attribute` is set for variables and for fields and elements of values: `resolve` reads the
 * value without the cost of its root, as cel-go does for branches of a conditional and for indexes (interpreter/attributes.go).
 */
export type Plan = {
  readonly evaluate: Evaluate;
  readonly attribute?: { readonly resolve: Evaluate; readonly rootCost: number };
  /** Set if the value is known without an evaluation. */
  readonly constant?: { readonly value: Value };
};

/** Returns the plan of a value that is known without an evaluation. */
export const constantPlan = (value: Value): Plan => ({ evaluate: () => value, constant: { value } });

/** Returns the plan of an attribute. `rootCost` is 1, or 0 if its root is a conditional. */
export const attributePlan = (resolve: Evaluate, rootCost: number): Plan => ({
  evaluate: (frame) => {
    if (rootCost > 0) frame.meter.charge(rootCost);
    return resolve(frame);
  },
  attribute: { resolve, rootCost },
});
