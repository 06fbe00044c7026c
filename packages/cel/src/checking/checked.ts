import type { Overload } from '../functions/overload.ts';
import type { Call, Expression } from '../syntax/expression.ts';
import type { CelType } from '../types/types.ts';

/** An expression with its type, and what its names and calls refer to. */
export type Checked = {
  readonly expression: Expression;
  readonly type: CelType;
  /** The names of variables and types, by the identifiers and selections that refer to them. */
  readonly names: ReadonlyMap<Expression, string>;
  /** The function that each call refers to. */
  readonly calls: ReadonlyMap<Call, ResolvedCall>;
};

/** A call with the overloads of its function that its parameters may match. The target of a method call is the first parameter. */
export type ResolvedCall = {
  readonly name: string;
  readonly overloads: readonly Overload[];
  readonly parameters: readonly Expression[];
};
