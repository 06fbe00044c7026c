/** The type checker: determines the types of expressions and resolves function calls (cel-go, checker). */
import type { Overload } from '../functions/overload.ts';
import { CompileError, type Problem } from '../syntax/compile-error.ts';
import {
  type Call,
  type Expression,
  type Fold,
  type Message,
  qualifiedName,
  type Select,
} from '../syntax/expression.ts';
import { isDynamic, Mapping, mostGeneral, substitute } from '../types/mapping.ts';
import * as types from '../types/types.ts';
import { type CelType, formatType } from '../types/types.ts';
import type { Checked, ResolvedCall } from './checked.ts';
import { type Environment, TYPE_NAMES } from './environment.ts';
import { literalProblems } from './literal-checks.ts';

/** Determines the types of an expression. `text` is its source, used in error messages. Throws `CompileError`. */
export function check(text: string, expression: Expression, environment: Environment): Checked {
  const checker = new Checker(environment);
  const type = checker.typeOf(expression);
  if (checker.problems.length > 0) throw new CompileError(text, checker.problems);
  const problems = literalProblems(expression, (one) => checker.finalType(one));
  if (problems.length > 0) throw new CompileError(text, problems);
  return { expression, type: checker.final(type), names: checker.names, calls: checker.calls };
}

type Scope = { readonly names: ReadonlyMap<string, CelType>; readonly outer: Scope | undefined };

class Checker {
  readonly problems: Problem[] = [];
  readonly names = new Map<Expression, string>();
  readonly calls = new Map<Call, ResolvedCall>();
  readonly #environment: Environment;
  readonly #types = new Map<Expression, CelType>();
  readonly #mapping = new Mapping();
  #scope: Scope | undefined;
  #parameters = 0;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  final(type: CelType): CelType {
    return substitute(this.#mapping, type, true);
  }

  finalType(expression: Expression): CelType {
    return this.final(this.#types.get(expression) ?? types.DYN);
  }

  typeOf(expression: Expression): CelType {
    const type = this.#check(expression);
    this.#types.set(expression, type);
    return type;
  }

  #check(expression: Expression): CelType {
    switch (expression.kind) {
      case 'literal':
        return literalType(expression.value);
      case 'identifier':
        return this.#named(expression, expression.name) ?? this.#undeclared(expression, expression.name);
      case 'select': {
        const name = qualifiedName(expression);
        return (name === undefined ? undefined : this.#named(expression, name)) ?? this.#select(expression);
      }
      case 'call':
        return this.#call(expression);
      case 'list': {
        let element: CelType | undefined;
        for (const { value, isOptional } of expression.elements)
          element = this.#join(element, this.#elementType(value, isOptional));
        return types.listOf(element ?? this.#parameter());
      }
      case 'map': {
        let [key, value]: (CelType | undefined)[] = [];
        for (const entry of expression.entries) {
          key = this.#join(key, this.typeOf(entry.key));
          value = this.#join(value, this.#elementType(entry.value, entry.isOptional));
        }
        return types.mapOf(key ?? this.#parameter(), value ?? this.#parameter());
      }
      case 'message':
        return this.#message(expression);
      case 'fold':
        return this.#fold(expression);
    }
  }

  #named(expression: Expression, name: string): CelType | undefined {
    for (let scope = this.#scope; scope !== undefined; scope = scope.outer) {
      const found = scope.names.get(name);
      if (found !== undefined) {
        this.names.set(expression, name);
        return found;
      }
    }
    const { variables } = this.#environment;
    const type = TYPE_NAMES.get(name);
    const found = Object.hasOwn(variables, name) ? variables[name] : type && types.typeOfType(type);
    if (found !== undefined) this.names.set(expression, name);
    return found;
  }

  #undeclared({ at }: Expression, name: string): CelType {
    return this.#problem(at, `undeclared reference to '${name}' (in container '')`);
  }

  #problem(at: number, message: string): CelType {
    this.problems.push({ at, message });
    return types.ERROR;
  }

  #mismatch(at: number, expected: CelType, found: CelType): CelType {
    return this.#problem(at, `expected type '${formatType(expected)}' but found '${formatType(found)}'`);
  }

  #elementType(value: Expression, isOptional: boolean): CelType {
    const type = this.typeOf(value);
    if (!isOptional) return type;
    const inner = types.unwrapOptional(type);
    if (inner === undefined && !isDynamic(type)) this.#mismatch(value.at, types.optionalOf(type), type);
    return inner ?? type;
  }

  /**
   * Returns the common type of two elements of a list or map literal, or `dyn` if their types differ. `literal-checks.ts` later rejects
   * most lists of mixed types.
   */
  #join(known: CelType | undefined, type: CelType): CelType {
    if (known === undefined) return type;
    return this.#isAssignable([known], [type]) ? mostGeneral(known, type) : types.DYN;
  }

  #isAssignable(expected: readonly CelType[], given: readonly CelType[]): boolean {
    return this.#mapping.accepts(expected, given);
  }

  #parameter = (): CelType => types.param(`_var${this.#parameters++}`);

  #select(select: Select): CelType {
    const type = this.#field(select, { operand: select.operand, field: select.field, isOptional: false });
    return select.isTest ? types.BOOL : substitute(this.#mapping, type, false);
  }

  #field(
    { at }: Expression,
    { operand, field, isOptional }: { operand: Expression; field: string; isOptional: boolean },
  ): CelType {
    const operandType = substitute(this.#mapping, this.typeOf(operand), false);
    const inner = types.unwrapOptional(operandType);
    const result = this.#fieldType(inner ?? operandType, field, at);
    return inner !== undefined || isOptional ? types.optionalOf(result) : result;
  }

  #fieldType(type: CelType, field: string, at: number): CelType {
    if (type.kind === 'map') return type.value;
    if (type.kind === 'object')
      return (
        type.fields.get(field) ?? type.fields.get(`__${field}__`) ?? this.#problem(at, `undefined field '${field}'`)
      );
    if (type.kind === 'param') this.#isAssignable([types.DYN], [type]);
    else if (!isDynamic(type)) this.#problem(at, `type '${formatType(type)}' does not support field selection`);
    return types.DYN;
  }

  #call(call: Call): CelType {
    const { name, target, parameters, at } = call;
    if (name === '_?._') {
      const [operand, field] = parameters;
      const text = field?.kind === 'literal' ? String(field.value) : '';
      const type = this.#field(call, { operand: operand!, field: text, isOptional: true });
      return substitute(this.#mapping, type, false);
    }
    for (const parameter of parameters) this.typeOf(parameter);
    const { functions } = this.#environment;
    if (target === undefined) {
      if (!Object.hasOwn(functions, name)) return this.#undeclared(call, name);
      return this.#resolve(call, { name, isMember: false, parameters });
    }
    const prefix = qualifiedName(target);
    const full = `${prefix}.${name}`;
    if (prefix !== undefined && Object.hasOwn(functions, full))
      return this.#resolve(call, { name: full, isMember: false, parameters });
    this.typeOf(target);
    if (!Object.hasOwn(functions, name)) return this.#undeclared({ ...call, at }, name);
    return this.#resolve(call, { name, isMember: true, parameters: [target, ...parameters] });
  }

  #resolve(
    call: Call,
    { name, isMember, parameters }: { name: string; isMember: boolean; parameters: readonly Expression[] },
  ): CelType {
    const given = parameters.map((one) => this.#types.get(one)!);
    const forms = this.#environment.functions[name]!.filter((one) => one.isMember === isMember);
    if (name === '_&&_' || name === '_||_') return this.#logical(call, parameters, forms);
    const overloads: Overload[] = [];
    let result: CelType | undefined;
    for (const form of forms) {
      const { expected, returned } = this.#instance(form);
      if (!this.#isAssignable(expected, given)) continue;
      overloads.push(form);
      const type = substitute(this.#mapping, returned, false);
      if (result === undefined) result = type;
      else if (result.kind !== 'dyn' && !types.isSameType(type, result)) result = types.DYN;
    }
    this.calls.set(call, { name, overloads, parameters });
    if (result !== undefined) return result;
    const shown = given.map((type) => formatType(this.final(type)));
    const applied = isMember ? `${shown[0]}.(${shown.slice(1).join(', ')})` : `(${shown.join(', ')})`;
    return this.#problem(call.at, `found no matching overload for '${name}' applied to '${applied}'`);
  }

  #logical(call: Call, parameters: readonly Expression[], overloads: readonly Overload[]): CelType {
    const known = this.problems.length;
    for (const one of parameters) {
      const type = this.#types.get(one)!;
      if (!this.#isAssignable([type], [types.BOOL])) this.#mismatch(one.at, types.BOOL, type);
    }
    this.calls.set(call, { name: call.name, overloads, parameters });
    return this.problems.length > known ? types.ERROR : types.BOOL;
  }

  /** Returns an overload's signature with fresh type parameters, so that calls of the same function do not share them. */
  #instance({ parameters, result }: Overload): { expected: readonly CelType[]; returned: CelType } {
    const own = new Map<string, CelType>();
    const rename = (type: CelType): CelType => {
      if (type.kind === 'param') {
        const known = own.get(type.name) ?? this.#parameter();
        own.set(type.name, known);
        return known;
      }
      const inner = types.parametersOf(type);
      return inner.length === 0 ? type : types.withParameters(type, inner.map(rename));
    };
    return { expected: parameters.map(rename), returned: rename(result) };
  }

  #message(message: Message): CelType {
    const type = this.#environment.messages?.(message.name);
    if (type === undefined) return this.#undeclared(message, message.name);
    for (const { name, value, isOptional, at } of message.fields) {
      const given = this.#elementType(value, isOptional);
      const expected = type.kind === 'object' ? type.fields.get(name) : undefined;
      if (expected === undefined) this.#problem(at, `undefined field '${name}'`);
      else if (!this.#isAssignable([expected], [given]))
        this.#problem(
          at,
          `expected type of field '${name}' is '${formatType(expected)}' but provided type is '${formatType(given)}'`,
        );
    }
    return type;
  }

  #fold({ range, variable, second, accumulator, start, condition, step, result }: Fold): CelType {
    const rangeType = substitute(this.#mapping, this.typeOf(range), false);
    const startType = this.typeOf(start);
    const outer = this.#scope;
    const accumulated: Scope = { names: new Map([[accumulator, startType]]), outer };
    const [first, other] = this.#variableTypes(rangeType, second !== undefined, range.at);
    const names = new Map([[variable, first]]);
    if (second !== undefined) names.set(second, other);
    this.#scope = { names, outer: accumulated };
    this.#require(condition, types.BOOL);
    this.#require(step, startType);
    this.#scope = accumulated;
    const type = this.typeOf(result);
    this.#scope = outer;
    return substitute(this.#mapping, type, false);
  }

  #variableTypes(range: CelType, hasSecond: boolean, at: number): [CelType, CelType] {
    if (range.kind === 'list') return hasSecond ? [types.INT, range.element] : [range.element, types.ERROR];
    if (range.kind === 'map') return [range.key, range.value];
    if (isDynamic(range) || range.kind === 'param') {
      this.#isAssignable([types.DYN], [range]);
      return [types.DYN, types.DYN];
    }
    const shown = formatType(range);
    this.#problem(
      at,
      `expression of type '${shown}' cannot be range of a comprehension (must be list, map, or dynamic)`,
    );
    return [types.ERROR, types.ERROR];
  }

  #require(expression: Expression, expected: CelType): void {
    const type = this.typeOf(expression);
    if (!this.#isAssignable([expected], [type])) this.#mismatch(expression.at, expected, type);
  }
}

function literalType(value: unknown): CelType {
  switch (typeof value) {
    case 'boolean':
      return types.BOOL;
    case 'bigint':
      return types.INT;
    case 'number':
      return types.DOUBLE;
    case 'string':
      return types.STRING;
  }
  if (value === null) return types.NULL;
  return value instanceof Uint8Array ? types.BYTES : types.UINT;
}
