/** Evaluates a policy against a request (apiserver, plugin/policy/validating/validator.go). */
import type { EventLoopBudget } from '@podwright/base';
import type { Variables } from '@podwright/cel';
import type { CompiledPolicy, CompiledValidation } from './compiled-policy.ts';
import { ExpressionRun, OutOfBudget } from './expression-run.ts';
import { evaluateConditions, joinedProblems } from './match-conditions.ts';

const MAX_MESSAGE_BYTES = 5 * 1024;

/**
 * A validation that the request violates or, if `isError`, that could not be evaluated. `index`: its index in the policy. `seconds`: how
 * long the evaluation took.
 */
export type Failure = {
  readonly message: string;
  readonly reason: string;
  readonly isError: boolean;
  readonly index: number;
  readonly seconds: number;
};
export type Evaluated = { readonly failures: readonly Failure[]; readonly annotations: readonly Annotation[] };
/** An audit annotation, or the reason its value could not be computed. */
export type Annotation = { readonly key: string } & ({ readonly value: string } | { readonly problem: string });

/** Returns the failure of a policy that could not be evaluated as a whole. */
export const policyFailure = (message: string): Failure => ({
  ...{ message, reason: '', isError: true, index: 0, seconds: 0 },
});

/**
 * Evaluates a policy against the variables of a request, such as `object` and `oldObject`. An expression can take a tenth of a second, so
 * evaluation yields to the event loop between expressions once the time slice of `eventLoop` is used up.
 */
export async function evaluatePolicy(
  policy: CompiledPolicy,
  variables: Variables,
  eventLoop: EventLoopBudget,
): Promise<Evaluated> {
  try {
    const matched = await evaluateConditions(policy.conditions, variables, eventLoop);
    if (matched === false) return { failures: [], annotations: [] };
    if (matched !== true) return { failures: [policyFailure(joinedProblems(matched))], annotations: [] };
    const run = new PolicyRun(policy.variables, variables);
    const failures: Failure[] = [];
    for (const [index, validation] of policy.validations.entries()) {
      if (eventLoop.isSpent) await eventLoop.renew();
      failures.push(...[run.validate(validation, index) ?? []].flat());
    }
    const other = new PolicyRun(policy.variables, variables);
    const annotations: Annotation[] = [];
    for (const annotation of policy.annotations) {
      if (eventLoop.isSpent) await eventLoop.renew();
      annotations.push(...[other.annotate(annotation) ?? []].flat());
    }
    return { failures, annotations };
  } catch (error) {
    if (error instanceof OutOfBudget) return { failures: [policyFailure(error.message)], annotations: [] };
    throw error;
  }
}

class PolicyRun extends ExpressionRun {
  validate(validation: CompiledValidation, index: number): Failure | undefined {
    const startMs = performance.now();
    const outcome = this.evaluate(validation.expression);
    if ('value' in outcome && outcome.value === true) return undefined;
    const seconds = (performance.now() - startMs) / 1000;
    if ('problem' in outcome) return { message: outcome.problem, reason: '', isError: true, index, seconds };
    const { message, expression, reason } = validation;
    const text = this.#message(validation) || message.trim() || `failed expression: ${expression.text.trim()}`;
    return { message: text, reason, isError: false, index, seconds };
  }

  /** Returns the value of the message expression, or '' if there is none or its value is unusable as a message. */
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
