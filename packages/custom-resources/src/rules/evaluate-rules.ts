/** Evaluates the rules of a schema for an object (apiextensions-apiserver, apiserver/schema/cel/validation.go). */
import { EventLoopBudget, isRecord } from '@podwright/base';
import type { Outcome, Variables } from '@podwright/cel';
import { optional } from '@podwright/cel';
import { duplicate, type FieldError, forbiddenField, invalidValue, isSameValue, required } from '@podwright/kube-kinds';
import type { JsonSchema } from '../json-schema.ts';
import { oldElements } from '../old-elements.ts';
import type { RuleOutcome } from './rule-outcome.ts';
import type { CompiledRule, RuleNode } from './rule-tree.ts';

/** Maximum total cost of all rules for one object (apiserver, pkg/apis/cel: RuntimeCELCostBudget). */
const MAX_OBJECT_COST = 10_000_000;
const MAX_MESSAGE_BYTES = 5 * 1024;
/** Maximum number of errors for one object. */
const MAX_ERRORS = 100;
const NO_BUDGET = 'validation failed due to running out of cost budget, no further validation rules will be run';

/** A value, and the same value before an update. */
type Pair = { readonly value: unknown; readonly old: unknown };

/**
 * The values that decide whether an error is demoted to a warning (ratcheting). It is demoted if an update did not change the value itself
 * or, if that has no old state, the nearest enclosing value that has one.
 */
type Ratchet = { readonly current?: Pair | undefined; readonly parent?: Pair | undefined };

type Place = Pair & { readonly path: string; readonly ratchet: Ratchet };

/**
 * Evaluates the rules for an object. `old` is the object before an update. Evaluating all rules of an object can take seconds, so it yields
 * to other work between rules.
 */
export async function evaluateRules(
  tree: RuleNode,
  { value, old, path = '' }: { value: unknown; old?: unknown; path?: string },
): Promise<RuleOutcome> {
  const run = new RuleRun();
  const budget = new EventLoopBudget();
  const ratchet = old === undefined ? {} : { current: { value, old } };
  for (const _ of run.visit(tree, { value, old, path, ratchet })) if (budget.isSpent) await budget.renew();
  return { errors: run.errors.slice(0, MAX_ERRORS), warnings: run.warnings.slice(0, MAX_ERRORS) };
}

class RuleRun {
  readonly errors: FieldError[] = [];
  readonly warnings: string[] = [];
  #budget = MAX_OBJECT_COST;
  #isEnded = false;

  /** Evaluates the rules for a value and all values in it. Yields after each rule, so that the caller can let other work run. */
  *visit(node: RuleNode, place: Place): Generator<void> {
    const { value, old } = place;
    if (value === null || value === undefined) return;
    yield* this.#rules(node, place);
    if (Array.isArray(value) && node.items !== undefined) {
      const find = oldElements(node.schema, old);
      for (const [index, item] of value.entries()) {
        if (this.#isEnded || this.errors.length >= MAX_ERRORS) return;
        const at = `${place.path}[${index}]`;
        yield* this.visit(node.items, {
          value: item,
          old: find(item),
          path: at,
          ratchet: ratchetOf(place, find(item), item),
        });
      }
    }
    if (isRecord(value)) yield* this.#fields(node, value, place);
  }

  *#fields(node: RuleNode, value: Record<string, unknown>, place: Place): Generator<void> {
    const { old, path } = place;
    for (const [name, one] of Object.entries(value)) {
      if (this.#isEnded || this.errors.length >= MAX_ERRORS) return;
      const before = isRecord(old) && Object.hasOwn(old, name) ? old[name] : undefined;
      const isVersion = place.ratchet.parent === undefined && (name === 'apiVersion' || name === 'kind');
      const ratchet = isVersion ? {} : ratchetOf(place, before, one);
      const property = node.properties.get(name);
      const at = path === '' ? name : `${path}.${name}`;
      if (property !== undefined) yield* this.visit(property, { value: one, old: before, path: at, ratchet });
      if (node.more !== undefined)
        yield* this.visit(node.more, { value: one, old: before, path: `${path}[${name}]`, ratchet });
    }
  }

  *#rules({ rules, schema, values }: RuleNode, place: Place): Generator<void> {
    if (values === undefined || rules.length === 0) return;
    const { value, old, path } = place;
    const { type = '' } = schema;
    if (this.#budget <= 0) return this.#end(invalidValue(shownPath(path), type, NO_BUDGET));
    const self = () => values.read(value);
    const hasOld = old !== undefined && old !== null;
    const variables: Variables = { self, ...(hasOld ? { oldSelf: () => values.read(old) } : {}) };
    const withOptional: Variables = {
      self,
      oldSelf: () => optional(hasOld ? values.read(old) : undefined),
    };
    for (const compiled of rules) {
      const isOptional = compiled.rule.optionalOldSelf === true;
      if (compiled.program === undefined || (compiled.usesOldSelf && !hasOld && !isOptional)) continue;
      this.#rule(compiled, { schema, place, variables: isOptional ? withOptional : variables });
      if (this.#isEnded) return;
      yield;
    }
  }

  #rule(
    compiled: CompiledRule,
    { schema, place, variables }: { schema: JsonSchema; place: Place; variables: Variables },
  ): void {
    const { type = '' } = schema;
    const at = shownPath(place.path);
    const outcome = compiled.program!.evaluate(variables);
    if (outcome.cost > this.#budget) return this.#end(invalidValue(at, type, NO_BUDGET));
    this.#budget -= outcome.cost;
    if ('error' in outcome) {
      this.errors.push(invalidValue(at, type, failure(outcome, shownRule(compiled))));
      if (outcome.isExceeded) this.#isEnded = true;
      return;
    }
    if (outcome.value === true) return;
    const path = joined(place.path, compiled.fieldPath);
    const detail = this.#detail(compiled, variables);
    const isWhole = type === 'object' || type === 'array';
    const error =
      typeof detail === 'string'
        ? errorOf(path, { value: isWhole ? undefined : place.value, detail, reason: compiled.rule.reason })
        : invalidValue(path, type, detail.problem);
    if (compiled.usesOldSelf || !isUnchanged(place.ratchet)) this.errors.push(error);
    else this.warnings.push(`${error.field}: ${error.message}`);
    if (typeof detail !== 'string') this.#isEnded = true;
  }

  /** Returns the message for a violated rule, or a problem that ends the evaluation of rules. */
  #detail({ message, rule }: CompiledRule, variables: Variables): string | { problem: string } {
    const plain = rule.message ? rule.message.trim() : `failed rule: ${(rule.rule ?? '').trim()}`;
    if (message === undefined) return plain;
    const outcome = message.evaluate(variables);
    const noMore = 'no further validation rules will be run';
    if (outcome.cost > this.#budget)
      return { problem: `messageExpression evaluation failed due to running out of cost budget, ${noMore}` };
    this.#budget -= outcome.cost;
    if ('error' in outcome) {
      const text = JSON.stringify(rule.messageExpression);
      const problem = `${noMore} due to call cost exceeds limit for messageExpression: ${text}`;
      return outcome.isExceeded ? { problem } : plain;
    }
    const text = String(outcome.value).trim();
    const isUsable = text !== '' && !text.includes('\n') && Buffer.byteLength(text) <= MAX_MESSAGE_BYTES;
    return isUsable ? text : plain;
  }

  #end(error: FieldError): void {
    this.errors.push(error);
    this.#isEnded = true;
  }
}

const shownPath = (path: string): string => (path === '' ? '<nil>' : path);

const shownRule = ({ rule: { rule = '', message = '' } }: CompiledRule): string => (message || rule).trim();

function joined(path: string, within: string): string {
  if (within === '') return shownPath(path);
  return path === '' || within.startsWith('[') ? `${path}${within}` : `${path}.${within}`;
}

function failure({ error }: Outcome & { error: string }, rule: string): string {
  if (error.startsWith('no such overload'))
    return `'${error}': call arguments did not match a supported operator, function or macro signature for rule: ${rule}`;
  if (error.startsWith('operation cancelled: actual cost limit exceeded'))
    return `'${error}': no further validation rules will be run due to call cost exceeds limit for rule: ${rule}`;
  return `${error} evaluating rule: ${rule}`;
}

function errorOf(
  path: string,
  { value, detail, reason }: { value: unknown; detail: string; reason: string | undefined },
): FieldError {
  if (reason === 'FieldValueForbidden') return forbiddenField(path, detail);
  if (reason === 'FieldValueRequired') return required(path, detail);
  if (reason === 'FieldValueDuplicate')
    return value === undefined ? { ...duplicate(path, ''), message: 'Duplicate value' } : duplicate(path, value);
  if (value !== undefined) return invalidValue(path, value, detail);
  return { reason: 'FieldValueInvalid', field: path, message: `Invalid value: ${detail}` };
}

function ratchetOf({ ratchet }: Place, old: unknown, value: unknown): Ratchet {
  if (ratchet.current === undefined) return ratchet;
  return { current: old === undefined ? undefined : { value, old }, parent: ratchet.current };
}

function isUnchanged({ current, parent }: Ratchet): boolean {
  const pair = current ?? parent;
  return pair !== undefined && isSameValue(pair.value, pair.old);
}
