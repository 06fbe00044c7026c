import type { Overload } from '../functions/overload.ts';
import type { Call, Expression } from '../syntax/expression.ts';
import type { CelType } from '../types/types.ts';

/** A type-checked CEL expression, with its names and calls resolved. */
export type Checked = {
  readonly expression: Expression;
  readonly type: CelType;
  /** The names of variables and types, keyed by the identifiers and selections that refer to them. */
  readonly names: ReadonlyMap<Expression, string>;
  /** The function that each call resolves to. */
  readonly calls: ReadonlyMap<Call, ResolvedCall>;
};

/** A call with the overloads that its arguments may match. The target of a method call is its first argument. */
export type ResolvedCall = {
  readonly name: string;
  readonly overloads: readonly Overload[];
  readonly parameters: readonly Expression[];
};
