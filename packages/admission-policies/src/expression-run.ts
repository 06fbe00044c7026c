import { EvaluationError, lazyFields, type Outcome, type Value, type Variables } from '@podwright/cel';
import type { CompiledExpression } from './policy-environment.ts';

const NO_BUDGET = 'validation failed due to running out of cost budget, no further validation rules will be run';

/** The expressions of a run have cost more together than their budget. */
export class OutOfBudget extends Error {
  constructor() {
    super(NO_BUDGET);
  }
}

/** Maximum cost of all expressions of a run (apiserver, pkg/apis/cel: RuntimeCELCostBudget). */
const MAX_COST = 10_000_000;

/** Evaluates expressions of a policy that share the policy's variables and one budget of costs. */
export class ExpressionRun {
  readonly #variables: Variables;
  #budget: number;

  /** `declared`: the variables of the policy. `variables`: those of the request. */
  constructor(declared: ReadonlyMap<string, CompiledExpression>, variables: Variables, budget = MAX_COST) {
    this.#budget = budget;
    const all: Variables = { ...variables, variables: () => composed };
    const composed = lazyFields(
      new Map([...declared].map(([name, compiled]) => [name, () => this.#variable(name, compiled, all)])),
    );
    this.#variables = all;
  }

  /** Returns the value of an expression, or why there is none. Throws `OutOfBudget`. */
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

  /** Returns the value of a variable. Called when an expression first reads it; `lazyFields` keeps the value. */
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
