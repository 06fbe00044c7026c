import type { CelError, Value } from '../values/values.ts';
import type { Meter } from './meter.ts';

/** The state of one evaluation of an expression. */
export type Frame = {
  readonly meter: Meter;
  /** Loop variables, by slot number. Reading a variable that holds an error throws the error. */
  readonly slots: (Value | CelError)[];
  /** Returns the value of an environment variable. Throws `CelError`. */
  readonly variable: (name: string) => Value;
};

/** Evaluates an expression. Throws `CelError` and `CostExceeded`. */
export type Evaluate = (frame: Frame) => Value;

/**
 * How a part of an expression is evaluated. `attribute` is set for variables, and for fields and elements of values. Its `resolve` reads
 * the value without charging for the root, as cel-go does for the branches of a conditional and for indexes (interpreter/attributes.go).
 */
export type Plan = {
  readonly evaluate: Evaluate;
  readonly attribute?: { readonly resolve: Evaluate; readonly rootCost: number };
  /** The value of the expression, if it is known at planning time. */
  readonly constant?: { readonly value: Value };
};

/** Returns the plan of a value that is known at planning time. */
export const constantPlan = (value: Value): Plan => ({ evaluate: () => value, constant: { value } });

/** Returns the plan of an attribute. `rootCost` is 1, or 0 if its root is a conditional. */
export const attributePlan = (resolve: Evaluate, rootCost: number): Plan => ({
  evaluate: (frame) => {
    if (rootCost > 0) frame.meter.charge(rootCost);
    return resolve(frame);
  },
  attribute: { resolve, rootCost },
});
