/** The syntax tree of an expression, with its macros expanded. */

type At = {
  /** The source index to report in errors about the expression. */
  readonly at: number;
};

export type Literal = At & { readonly kind: 'literal'; readonly value: LiteralValue };
/** Integers are bigints, doubles are numbers. */
export type LiteralValue = null | boolean | bigint | number | string | Uint8Array | { readonly uint: bigint };
export type Identifier = At & { readonly kind: 'identifier'; readonly name: string };
/** A field selection. `isTest`: it tests whether the field is present (`has`) instead of reading it. */
export type Select = At & {
  readonly kind: 'select';
  readonly operand: Expression;
  readonly field: string;
  readonly isTest: boolean;
};
export type Call = At & {
  readonly kind: 'call';
  readonly name: string;
  readonly target: Expression | undefined;
  readonly parameters: readonly Expression[];
};
export type ListLiteral = At & { readonly kind: 'list'; readonly elements: readonly Element[] };
export type Element = { readonly value: Expression; readonly isOptional: boolean };
export type MapLiteral = At & { readonly kind: 'map'; readonly entries: readonly Entry[] };
export type Entry = { readonly key: Expression; readonly value: Expression; readonly isOptional: boolean };
export type Message = At & {
  readonly kind: 'message';
  readonly name: string;
  readonly fields: readonly (At & {
    readonly name: string;
    readonly value: Expression;
    readonly isOptional: boolean;
  })[];
};

/**
 * A loop over a list or map: while the condition holds, each step computes the next value of the accumulator. If the loop has two
 * variables, `variable` is the index or key and `second` is the element or value.
 */
export type Fold = At & {
  readonly kind: 'fold';
  readonly range: Expression;
  readonly variable: string;
  readonly second: string | undefined;
  readonly accumulator: string;
  readonly start: Expression;
  readonly condition: Expression;
  readonly step: Expression;
  readonly result: Expression;
};

export type Expression = Literal | Identifier | Select | Call | ListLiteral | MapLiteral | Message | Fold;

/** Returns the qualified name that an identifier or a chain of selections spells, such as `net.IP`; `undefined` for other expressions. */
export function qualifiedName(expression: Expression): string | undefined {
  if (expression.kind === 'identifier') return expression.name;
  if (expression.kind !== 'select' || expression.isTest) return undefined;
  const prefix = qualifiedName(expression.operand);
  return prefix === undefined ? undefined : `${prefix}.${expression.field}`;
}
