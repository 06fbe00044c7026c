/** Expands macros, which are calls that are replaced with loops and tests (CEL specification, "Macros"; cel-go, ext/comprehensions). */
import type { Call, Expression, Fold, Literal, LiteralValue } from './expression.ts';

/** The expansion of a call, or why the macro is invalid; `undefined` if the call is not a macro. */
export type Expansion = Expression | { readonly problem: string; readonly at: number } | undefined;

/** Name of the accumulator, which cannot occur in source text. */
const RESULT = '@result';

type Variables = { variable: string; second?: string };

/** Expands a call if it is a macro. */
export function expandMacro({ name, target, parameters, at }: Call): Expansion {
  if (target === undefined) return name === 'has' && parameters.length === 1 ? presence(parameters[0]!) : undefined;
  const [first, second, third, fourth] = parameters;
  const build = new Builder(at, target);
  if (OPTIONAL.has(name) && parameters.length === 2) return build.optional(name, first!, second!);
  if (name === 'sortBy' && parameters.length === 2) return build.sorted(first!, second!);
  if (parameters.length === 2 && (QUANTIFIERS.has(name) || name === 'filter'))
    return build.over([first!], (variables) => build.loop(name, variables, [second!, first!]));
  if (name === 'map' && (parameters.length === 2 || parameters.length === 3))
    return build.over([first!], (variables) => build.transform(variables, parameters.slice(1)), MAP_NAME);
  if (QUANTIFIERS.has(name) && parameters.length === 3)
    return build.over([first!, second!], (variables) => build.loop(name, variables, [third!, first!]));
  if (TRANSFORMS.has(name) && third !== undefined && parameters.length <= 4)
    return build.over([first!, second!], (variables) => {
      const rest = fourth === undefined ? [third] : [third, fourth];
      return name === 'transformList' ? build.transform(variables, rest) : build.entries(name, variables, rest);
    });
  return undefined;
}

const OPTIONAL = new Set(['optMap', 'optFlatMap']);
const QUANTIFIERS = new Set(['all', 'exists', 'exists_one', 'existsOne']);
const TRANSFORMS = new Set(['transformList', 'transformMap', 'transformMapEntry']);
const MAP_NAME = 'argument is not an identifier';

function presence(operand: Expression): Expansion {
  if (operand.kind === 'select') return { ...operand, isTest: true };
  return { problem: 'invalid argument to has() macro', at: operand.at };
}

class Builder {
  readonly #at: number;
  readonly #range: Expression;

  constructor(at: number, range: Expression) {
    this.#at = at;
    this.#range = range;
  }

  /** Validates that the names are identifiers, and passes them to `build` as the loop's variables. */
  over(
    names: readonly Expression[],
    build: (variables: Variables) => Expression,
    problem = 'argument must be a simple name',
  ): Expansion {
    for (const name of names) {
      if (name.kind !== 'identifier') return { problem, at: name.at };
      if (name.name === '__result__')
        return { problem: 'iteration variable overwrites accumulator variable', at: name.at };
    }
    const [variable, second] = names.map((one) => (one as { name: string }).name);
    if (variable === second) return { problem: `duplicate variable name: ${variable}`, at: names[1]!.at };
    return build({ variable: variable!, ...(second === undefined ? {} : { second }) });
  }

  /** Expands `all`, `exists`, `exists_one` and `filter`. */
  loop(name: string, variables: Variables, [test, element]: readonly [Expression, Expression]): Expression {
    const result = this.#result();
    if (name === 'all')
      return this.#fold(variables, {
        start: this.#literal(true),
        condition: this.#call('@not_strictly_false', result),
        step: this.#call('_&&_', result, test),
      });
    if (name === 'exists')
      return this.#fold(variables, {
        start: this.#literal(false),
        condition: this.#call('@not_strictly_false', this.#call('!_', result)),
        step: this.#call('_||_', result, test),
      });
    if (name === 'filter') return this.transform(variables, [test, element]);
    return this.#fold(variables, {
      start: this.#literal(0n),
      step: this.#call('_?_:_', test, this.#call('_+_', result, this.#literal(1n)), result),
      result: this.#call('_==_', result, this.#literal(1n)),
    });
  }

  /** Expands macros that build a list. `expressions` are an optional condition and the element. */
  transform(variables: Variables, expressions: readonly Expression[]): Expression {
    const element = this.#list([expressions.at(-1)!]);
    const step = this.#call('_+_', this.#result(), element);
    return this.#fold(variables, { start: this.#list([]), step: this.#conditional(expressions, step) });
  }

  /** Expands `transformMap`, whose last argument is an entry's value, and `transformMapEntry`, whose last argument is a map of entries. */
  entries(name: string, variables: Variables, expressions: readonly Expression[]): Expression {
    const value = expressions.at(-1)!;
    const key: Expression = { kind: 'identifier', name: variables.variable, at: this.#at };
    const step = this.#call('cel.@mapInsert', this.#result(), ...(name === 'transformMap' ? [key, value] : [value]));
    const start: Expression = { kind: 'map', entries: [], at: this.#at };
    return this.#fold(variables, { start, step: this.#conditional(expressions, step) });
  }

  #conditional(expressions: readonly Expression[], step: Expression): Expression {
    return expressions.length === 1 ? step : this.#call('_?_:_', expressions[0]!, step, this.#result());
  }

  /** Expands `optMap` and `optFlatMap`, which evaluate `value` with `variable` bound to the value of the optional. */
  optional(name: string, variable: Expression, value: Expression): Expansion {
    if (variable.kind !== 'identifier')
      return { problem: `${name}() variable name must be a simple identifier`, at: variable.at };
    const found = this.#bind(variable.name, this.#member(this.#range, 'value'), value);
    const mapped = name === 'optMap' ? this.#call('optional.of', found) : found;
    return this.#call('_?_:_', this.#member(this.#range, 'hasValue'), mapped, this.#call('optional.none'));
  }

  /** Expands `sortBy`, which sorts a list by the value of a key expression. */
  sorted(variable: Expression, key: Expression): Expansion {
    if (['literal', 'map', 'message'].includes(this.#range.kind)) {
      const problem = 'sortBy can only be applied to a list, identifier, comprehension, call or select expression';
      return { problem, at: this.#range.at };
    }
    const input: Expression = { kind: 'identifier', name: '@__sortBy_input__', at: this.#at };
    const keys = new Builder(this.#at, input).over(
      [variable],
      (variables) => new Builder(this.#at, input).transform(variables, [key]),
      MAP_NAME,
    );
    if (keys === undefined || 'problem' in keys) return keys;
    return this.#bind(input.name, this.#range, this.#member(input, '@sortByAssociatedKeys', keys));
  }

  #bind(name: string, value: Expression, result: Expression): Expression {
    return {
      kind: 'fold',
      range: this.#list([]),
      variable: '#unused',
      second: undefined,
      accumulator: name,
      start: value,
      condition: this.#literal(false),
      step: { kind: 'identifier', name, at: this.#at },
      result,
      at: this.#at,
    };
  }

  #fold(
    { variable, second }: Variables,
    parts: Pick<Fold, 'start' | 'step'> & Partial<Pick<Fold, 'condition' | 'result'>>,
  ): Expression {
    return {
      kind: 'fold',
      range: this.#range,
      ...{ variable, second, accumulator: RESULT },
      condition: this.#literal(true),
      result: this.#result(),
      ...parts,
      at: this.#at,
    };
  }

  #result = (): Expression => ({ kind: 'identifier', name: RESULT, at: this.#at });
  #literal = (value: LiteralValue): Literal => ({ kind: 'literal', value, at: this.#at });
  #list = (elements: readonly Expression[]): Expression => ({
    kind: 'list',
    elements: elements.map((value) => ({ value, isOptional: false })),
    at: this.#at,
  });
  #call = (name: string, ...parameters: Expression[]): Expression => ({
    kind: 'call',
    name,
    target: undefined,
    parameters,
    at: this.#at,
  });
  #member = (target: Expression, name: string, ...parameters: Expression[]): Expression => ({
    ...{ kind: 'call', name, target, parameters, at: this.#at },
  });
}
