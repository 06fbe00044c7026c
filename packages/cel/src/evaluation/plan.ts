/** Plans the evaluation of checked expressions, with cel-go's costs (interpreter/planner.go, interpreter/runtimecost.go). */
import type { Checked, ResolvedCall } from '../checking/checked.ts';
import { TYPE_NAMES } from '../checking/environment.ts';
import { hasType, type Overload } from '../functions/overload.ts';
import type { Call, Expression, Fold, LiteralValue, Select } from '../syntax/expression.ts';
import { CelError, noOverload, TypeValue, Uint, type Value } from '../values/values.ts';
import { access, accessOptional, hasField } from './access.ts';
import { appendPlan, foldPlan, insertPlan } from './fold-plan.ts';
import { attributePlan, constantPlan, type Evaluate, type Frame, type Plan } from './frame.ts';
import { listPlan, mapPlan } from './literals.ts';
import { alternativePlan, conditionalPlan, logicalPlan, notFalsePlan } from './logic.ts';
import { messagePlan } from './message-plan.ts';

/** Plans the evaluation of a checked expression. */
export function plan(checked: Checked): Plan {
  return new Planner(checked).plan(checked.expression);
}

/** Slot numbers of a loop's variables by name, and the slots of the enclosing loops. */
type Slots = { readonly names: ReadonlyMap<string, number>; readonly outer: Slots | undefined };

/** Functions that are called once, at planning time, if their argument is a constant. */
const CONVERSIONS = new Set([
  'bool',
  'bytes',
  'double',
  'duration',
  'dyn',
  'int',
  'string',
  'timestamp',
  'type',
  'uint',
]);

/** Functions whose cost depends on the overload. They cost 1 if the overload is resolved only during evaluation. */
const COSTED_BY_FORM = /^(?:_.+_|@in|string|bytes)$/;

class Planner {
  readonly #checked: Checked;
  #slots: Slots | undefined;
  #count = 0;

  constructor(checked: Checked) {
    this.#checked = checked;
  }

  plan(expression: Expression): Plan {
    switch (expression.kind) {
      case 'literal':
        return constantPlan(literalValue(expression.value));
      case 'identifier':
        return this.#named(this.#checked.names.get(expression) ?? expression.name);
      case 'select': {
        const name = this.#checked.names.get(expression);
        return name === undefined ? this.#select(expression) : this.#named(name);
      }
      case 'call':
        return this.#call(expression);
      case 'list':
        return listPlan(expression.elements.map(({ value, isOptional }) => ({ plan: this.plan(value), isOptional })));
      case 'map':
        return mapPlan(
          expression.entries.map(({ key, value, isOptional }) => ({
            ...{ key: this.plan(key), plan: this.plan(value), isOptional },
          })),
        );
      case 'message':
        return messagePlan(
          expression.name,
          expression.fields.map(({ name, value, isOptional }) => ({ name, plan: this.plan(value), isOptional })),
        );
      case 'fold':
        return this.#fold(expression);
    }
  }

  #named(name: string): Plan {
    for (let slots = this.#slots; slots !== undefined; slots = slots.outer) {
      const slot = slots.names.get(name);
      if (slot !== undefined)
        return attributePlan(({ slots: values }) => {
          const value = values[slot]!;
          if (value instanceof CelError) throw value;
          return value;
        }, 1);
    }
    const type = TYPE_NAMES.get(name);
    if (type !== undefined) return constantPlan(new TypeValue(name));
    return attributePlan(({ variable }) => variable(name), 1);
  }

  /** Plans the operand of a selection or index. Its root is not charged here: the whole attribute is charged once, with `rootCost`. */
  #operand(expression: Expression): { read: Evaluate; rootCost: number } {
    const { evaluate, attribute } = this.plan(expression);
    return { read: attribute?.resolve ?? evaluate, rootCost: attribute?.rootCost ?? 1 };
  }

  #select({ operand, field, isTest }: Select): Plan {
    const { read, rootCost } = this.#operand(operand);
    if (isTest)
      return {
        evaluate: (frame) => {
          const value = read(frame);
          frame.meter.charge(1);
          return hasField(value, field);
        },
      };
    return attributePlan((frame) => {
      const value = read(frame);
      frame.meter.charge(1);
      return access(value, field);
    }, rootCost);
  }

  /** Plans an index access. With `isOptional`, accessing an absent element is free. */
  #index([operand, key]: readonly Expression[], isOptional: boolean): Plan {
    const { read, rootCost } = this.#operand(operand!);
    const { evaluate, attribute } = this.plan(key!);
    const readKey = attribute?.resolve ?? evaluate;
    return attributePlan((frame) => {
      const value = read(frame);
      const index = readKey(frame);
      if (!isOptional) {
        frame.meter.charge(1);
        return access(value, index);
      }
      const found = accessOptional(value, index);
      if (found.value !== undefined) frame.meter.charge(1);
      return found;
    }, rootCost);
  }

  #call(call: Call): Plan {
    const resolved = this.#checked.calls.get(call);
    const { name, parameters } = resolved ?? call;
    switch (name) {
      case '_?._':
        return this.#index(parameters, true);
      case '_[_]':
        return this.#index(parameters, false);
      case '_[?_]':
        return this.#index(parameters, true);
      case '_&&_':
      case '_||_':
        return logicalPlan(this.#plans(parameters), name === '_||_');
      case '_?_:_': {
        const [condition, then, otherwise] = this.#plans(parameters);
        return conditionalPlan(condition!, then!, otherwise!);
      }
      case '@not_strictly_false':
        return notFalsePlan(this.plan(parameters[0]!));
      case 'or':
      case 'orValue':
        return alternativePlan(this.plan(parameters[0]!), this.plan(parameters[1]!), name === 'orValue');
      case 'cel.@mapInsert':
        return insertPlan(this.plan(parameters[0]!), this.#plans(parameters.slice(1)));
      case '@in':
        return this.#membership(resolved!);
    }
    const [first, second] = parameters;
    const isAppended = name === '_+_' && first?.kind === 'identifier' && first.name === '@result';
    if (isAppended && second?.kind === 'list') return appendPlan(this.plan(first), this.plan(second));
    return this.#function(resolved!);
  }

  #plans = (expressions: readonly Expression[]): Plan[] => expressions.map((one) => this.plan(one));

  /** Plans the `in` operator. If the list consists of literals, it is evaluated only once, and the operator is free. */
  #membership(call: ResolvedCall): Plan {
    const planned = this.#function(call);
    const [value, list] = call.parameters;
    if (list?.kind !== 'list') return planned;
    const constants = this.plan(list).constant;
    if (constants === undefined || !list.elements.every(({ value: one }) => one.kind === 'literal')) return planned;
    const { evaluate } = this.plan(value!);
    const [{ run }] = call.overloads as [Overload];
    return { evaluate: (frame) => run(evaluate(frame), constants.value, frame.meter) };
  }

  #function({ name, overloads, parameters }: ResolvedCall): Plan {
    const plans = this.#plans(parameters);
    const find = finder(overloads);
    const isFixed = overloads.length === 1;
    const evaluate = (frame: Frame): Value => {
      const values = plans.map((one) => one.evaluate(frame));
      const form = find(values);
      const result = form.run(...values, frame.meter);
      const isCosted = form.cost !== undefined && (isFixed || !COSTED_BY_FORM.test(name));
      frame.meter.charge(isCosted ? form.cost!(values, result) : 1);
      return result;
    };
    const orCharged = (frame: Frame): Value => {
      try {
        return evaluate(frame);
      } catch (error) {
        // a failing call costs 1, even if only one of its arguments failed
        if (error instanceof CelError) frame.meter.charge(1);
        throw error;
      }
    };
    const constants = plans.map(({ constant }) => constant);
    const isConversion = CONVERSIONS.has(name) && constants.length === 1 && constants[0] !== undefined;
    return isConversion ? converted(find, constants[0]!.value, orCharged) : { evaluate: orCharged };
  }

  #fold({ range, variable, second, accumulator, start, condition, step, result }: Fold): Plan {
    const plans = { range: this.plan(range), start: this.plan(start) };
    const outer = this.#slots;
    const slots = { accumulator: this.#count++, variable: this.#count++, second: second && this.#count++ };
    const accumulated: Slots = { names: new Map([[accumulator, slots.accumulator]]), outer };
    const names = new Map([[variable, slots.variable]]);
    if (second !== undefined) names.set(second, slots.second as number);
    this.#slots = { names, outer: accumulated };
    const loop = { condition: this.plan(condition), step: this.plan(step) };
    this.#slots = accumulated;
    const planned = foldPlan({
      ...plans,
      ...loop,
      result: this.plan(result),
      ...slots,
      second: second === undefined ? undefined : (slots.second as number),
    });
    this.#slots = outer;
    return planned;
  }
}

/** Returns a function that selects the overload that matches the types of the values. */
function finder(overloads: readonly Overload[]): (values: readonly Value[]) => Overload {
  return (values) => {
    for (const form of overloads)
      if (values.every((value, index) => hasType(value, form.parameters[index]!))) return form;
    throw noOverload();
  };
}

/**
 * Calls a conversion with a constant argument at planning time. If the conversion fails, plans the call instead, so that the error occurs
 * during evaluation.
 */
function converted(find: (values: readonly Value[]) => Overload, value: Value, evaluate: Evaluate): Plan {
  try {
    const unlimited = { spend: () => {}, remaining: Infinity, characters: (text: string) => text.length };
    return constantPlan(find([value]).run(value, unlimited));
  } catch (error) {
    if (error instanceof CelError) return { evaluate };
    throw error;
  }
}

function literalValue(literal: LiteralValue): Value {
  return typeof literal === 'object' && literal !== null && 'uint' in literal ? new Uint(literal.uint) : literal;
}
