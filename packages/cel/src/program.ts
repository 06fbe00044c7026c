import { check } from './checking/check.ts';
import type { Environment } from './checking/environment.ts';
import type { Evaluate } from './evaluation/frame.ts';
import { CostExceeded, Meter } from './evaluation/meter.ts';
import { plan } from './evaluation/plan.ts';
import { CompileError } from './syntax/compile-error.ts';
import { parse } from './syntax/parser.ts';
import type { CelType } from './types/types.ts';
import { CelError, type Value } from './values/values.ts';

/** Maximum cost of an evaluation (apiserver, pkg/apis/cel: PerCallLimit). */
export const MAX_CALL_COST = 1_000_000;
/** Maximum number of steps of work (`Meter.spend`) per unit of the maximum cost. */
const STEPS_PER_COST = 5;

/** The values of an expression's variables, by name, or functions that compute the value each time the variable is read. */
export type Variables = Readonly<Record<string, Value | (() => Value)>>;

export type Outcome = {
  /** The cost of the evaluation, which is known even if the evaluation failed. */
  readonly cost: number;
} & (
  | { readonly value: Value }
  /** `isExceeded`: whether the evaluation was stopped because it exceeded its maximum cost. */
  | { readonly error: string; readonly isExceeded: boolean }
);

/** A compiled expression. */
export type Program = {
  readonly type: CelType;
  /** The names of variables and types that the expression uses. */
  readonly names: ReadonlySet<string>;
  /** Evaluates the expression at a cost of at most `maxCost` (default and upper bound: 1,000,000). */
  readonly evaluate: (variables: Variables, maxCost?: number) => Outcome;
};

/** Compiles an expression. Throws `CompileError`. */
export function compile(text: string, environment: Environment): Program {
  try {
    const checked = check(text, parse(text), environment);
    const { evaluate } = plan(checked);
    const names = new Set(checked.names.values());
    return { type: checked.type, names, evaluate: (variables, maxCost) => run(evaluate, variables, maxCost) };
  } catch (error) {
    // the nesting is within the parser's limit, but too deep for the stack of this process
    if (error instanceof RangeError)
      throw new CompileError(text, [{ at: 0, message: 'expression recursion limit exceeded' }]);
    throw error;
  }
}

function run(evaluate: Evaluate, variables: Variables, maxCost = MAX_CALL_COST): Outcome {
  const limit = Math.max(0, Math.min(maxCost, MAX_CALL_COST));
  const meter = new Meter(limit, limit * STEPS_PER_COST);
  const variable = (name: string): Value => {
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    if (value === undefined) throw new CelError(`no such attribute(s): ${name}`);
    return typeof value === 'function' ? value() : value;
  };
  try {
    return { value: evaluate({ meter, slots: [], variable }), cost: meter.cost };
  } catch (error) {
    if (error instanceof CelError || error instanceof CostExceeded)
      return { error: error.message, isExceeded: error instanceof CostExceeded, cost: meter.cost };
    if (error instanceof RangeError) return { error: error.message, isExceeded: true, cost: meter.cost };
    throw error;
  }
}
