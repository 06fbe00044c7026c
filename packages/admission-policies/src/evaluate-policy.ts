/** Evaluates a policy for a request (apiserver, plugin/policy/validating/validator.go). */
import type { EventLoopBudget } from '@podwright/base';
import { EvaluationError, lazyFields, type Outcome, type Value, type Variables } from '@podwright/cel';
import type { CompiledPolicy, CompiledValidation } from './compiled-policy.ts';
import type { CompiledExpression } from './policy-environment.ts';

/** Maximum cost of all validations of a policy, and of all its match conditions (apiserver, pkg/apis/cel). */
const MAX_COST = 10_000_000;
const MAX_CONDITIONS_COST = 2_500_000;
const MAX_MESSAGE_BYTES = 5 * 1024;
const NO_BUDGET = 'validation failed due to running out of cost budget, no further validation rules will be run';

/** A validation that the request violates or, with `isError`, that could not be evaluated. */
export type Failure = {
  readonly message: string;
  readonly reason: string;
  readonly isError: boolean;
  readonly index: number;
};
export type Evaluated = { readonly failures: readonly Failure[]; readonly annotations: readonly Annotation[] };
/** An audit annotation, or the problem for which its value could not be computed. */
export type Annotation = { readonly key: string } & ({ readonly value: string } | { readonly problem: string });

class OutOfBudget extends Error {}

const problem = (message: string): Failure => ({ message, reason: '', isError: true, index: 0 });

/**
 * Evaluates a policy. `variables` are those of the request, such as `object` and `oldObject`. `budget`: an expression can take a tenth of a
 * second, so other work runs between them.
 */
export async function evaluatePolicy(
  policy: CompiledPolicy,
  variables: Variables,
  budget: EventLoopBudget,
): Promise<Evaluated> {
  try {
    const matched = await matchConditions(policy, variables, budget);
    if (matched !== true) return { failures: matched === false ? [] : [problem(matched)], annotations: [] };
    const run = new PolicyRun(policy, variables);
    const failures: Failure[] = [];
    for (const [index, validation] of policy.validations.entries()) {
      if (budget.isSpent) await budget.renew();
      failures.push(...[run.validate(validation, index) ?? []].flat());
    }
    const other = new PolicyRun(policy, variables);
    const annotations: Annotation[] = [];
    for (const annotation of policy.annotations) {
      if (budget.isSpent) await budget.renew();
      annotations.push(...[other.annotate(annotation) ?? []].flat());
    }
    return { failures, annotations };
  } catch (error) {
    if (error instanceof OutOfBudget) return { failures: [problem(error.message)], annotations: [] };
    throw error;
  }
}

/** Returns whether all match conditions hold, or the errors of conditions that cannot be evaluated. One that is false takes precedence. */
async function matchConditions(
  policy: CompiledPolicy,
  variables: Variables,
  budget: EventLoopBudget,
): Promise<boolean | string> {
  const run = new PolicyRun({ ...policy, variables: new Map() }, variables, MAX_CONDITIONS_COST);
  const problems: string[] = [];
  for (const condition of policy.conditions) {
    if (budget.isSpent) await budget.renew();
    const outcome = run.evaluate(condition);
    if ('problem' in outcome) problems.push(outcome.problem);
    else if (outcome.value === false) return false;
  }
  if (problems.length === 0) return true;
  return problems.length === 1 ? problems[0]! : `[${problems.join(', ')}]`;
}

class PolicyRun {
  readonly #variables: Variables;
  #budget: number;

  constructor(policy: CompiledPolicy, variables: Variables, budget = MAX_COST) {
    this.#budget = budget;
    const all: Variables = { ...variables, variables: () => composed };
    const composed = lazyFields(
      new Map([...policy.variables].map(([name, compiled]) => [name, () => this.#variable(name, compiled, all)])),
    );
    this.#variables = all;
  }

  /** Throws `OutOfBudget`. */
  evaluate(compiled: CompiledExpression): { value: Value } | { problem: string } {
    if ('problem' in compiled) return { problem: `compilation error: ${compiled.problem}` };
    const outcome = compiled.program.evaluate(this.#variables);
    this.#spend(outcome);
    if ('error' in outcome) return { problem: `expression '${compiled.text}' resulted in error: ${outcome.error}` };
    return { value: outcome.value };
  }

  #spend({ cost }: Outcome): void {
    if (cost > this.#budget) throw new OutOfBudget(NO_BUDGET);
    this.#budget -= cost;
  }

  /** Returns the value of a variable. It is evaluated when an expression first reads it, and then stored. */
  #variable(name: string, compiled: CompiledExpression, variables: Variables): Value {
    const shown = JSON.stringify(name);
    if ('problem' in compiled)
      throw new EvaluationError(`composited variable ${shown} fails to compile: ${compiled.problem}`);
    const outcome = compiled.program.evaluate(variables);
    this.#spend(outcome);
    if ('error' in outcome)
      throw new EvaluationError(`composited variable ${shown} fails to evaluate: ${outcome.error}`);
    return outcome.value;
  }

  validate(validation: CompiledValidation, index: number): Failure | undefined {
    const outcome = this.evaluate(validation.expression);
    if ('problem' in outcome) return { message: outcome.problem, reason: '', isError: true, index };
    if (outcome.value === true) return undefined;
    const { message, expression, reason } = validation;
    const text = this.#message(validation) || message.trim() || `failed expression: ${expression.text.trim()}`;
    return { message: text, reason, isError: false, index };
  }

  /** Returns the value of the message expression; '' if there is none or its value cannot be used as a message. */
  #message({ messageExpression }: CompiledValidation): string {
    if (messageExpression === undefined) return '';
    const outcome = this.evaluate(messageExpression);
    const text = 'value' in outcome && typeof outcome.value === 'string' ? outcome.value.trim() : '';
    return text.includes('\n') || Buffer.byteLength(text) > MAX_MESSAGE_BYTES ? '' : text;
  }

  annotate({ key, value }: CompiledPolicy['annotations'][number]): Annotation | undefined {
    const outcome = this.evaluate(value);
    if ('problem' in outcome) return { key, problem: outcome.problem };
    if (outcome.value === null) return undefined;
    if (typeof outcome.value !== 'string') return { key, problem: unsupported(value.text) };
    const text = outcome.value.trim();
    return text === '' ? undefined : { key, value: text };
  }
}

const unsupported = (text: string): string =>
  `valueExpression '${text}' resulted in unsupported return type. Return type must be either string or null.`;
