import type { Overload } from '../functions/overload.ts';
import type { Call, Expression } from '../syntax/expression.ts';
import type { CelType } from '../types/types.ts';

/** An expression with the types of its parts. */
export type Checked = {
  readonly expression: Expression;
  readonly type: CelType;
  /** Names of variables and types, by the identifiers and selections that are them. */
  readonly names: ReadonlyMap<Expression, string>;
  /** What calls call. */
  readonly calls: ReadonlyMap<Call, ResolvedCall>;
};

/** The forms of a function that parameters can have. The target is the first parameter. */
export type ResolvedCall = {
  readonly name: string;
  readonly overloads: readonly Overload[];
  readonly parameters: readonly Expression[];
};
