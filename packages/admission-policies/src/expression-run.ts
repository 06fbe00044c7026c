import { EvaluationError, lazyFields, type Outcome, type Value, type Variables } from '@podwright/cel';
import type { CompiledExpression } from './policy-environment.ts';

const NO_BUDGET = 'validation failed due to running out of cost budget, no further validation rules will be run';

/** Thrown when a policy's expressions exceed their shared cost budget. */
export class OutOfBudget extends Error {
  constructor() {
    super(NO_BUDGET);
  }
}

/** Maximum total cost of a policy's expressions in one evaluation of the policy (apiserver, pkg/apis/cel: RuntimeCELCostBudget). */
const MAX_COST = 10_000_000;

/** Evaluates a policy's expressions, which share its variables and a cost budget. */
export class ExpressionRun {
  readonly #variables: Variables;
  #budget: number;

  /** `declared`: the policy's variables. `variables`: the request's variables. */
  constructor(declared: ReadonlyMap<string, CompiledExpression>, variables: Variables, budget = MAX_COST) {
    this.#budget = budget;
    const all: Variables = { ...variables, variables: () => composed };
    const composed = lazyFields(
      new Map([...declared].map(([name, compiled]) => [name, () => this.#variable(name, compiled, all)])),
    );
    this.#variables = all;
  }

  /** Returns the value of an expression, or why it could not be evaluated. Throws `OutOfBudget`. */
  evaluate(compiled: CompiledExpression): { value: Value } | { problem: string } {
    if ('problem' in compiled) return { problem: `compilation error: ${compiled.problem}` };
    const outcome = compiled.program.evaluate(this.#variables);
    this.#spend(outcome);
    if ('error' in outcome) return { problem: `expression '${compiled.text}' resulted in error: ${outcome.error}` };
    return { value: outcome.value };
  }

  #spend({ cost }: Outcome): void {
    if (cost > this.#budget) throw new OutOfBudget();
    this.#budget -= cost;
  }

  /** Returns the value of a variable. Called on first use; `lazyFields` caches the value. */
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
}
