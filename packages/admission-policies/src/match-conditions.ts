/** Match conditions of policies and webhooks (apiserver, plugin/webhook/matchconditions). */
import type { EventLoopBudget } from '@podwright/base';
import type { FunctionTable, Variables } from '@podwright/cel';
import { type FieldError, invalidValue, type JsonObject, textAt } from '@podwright/kube-kinds';
import { ExpressionRun } from './expression-run.ts';
import { type CompiledExpression, compileExpression, policyEnvironment } from './policy-environment.ts';

/** Maximum total cost of the match conditions of a policy or webhook (apiserver, pkg/apis/cel). */
const MAX_COST = 2_500_000;

/** Compiles match conditions. `hasParams`: whether they may use `params`. Default: false. */
export function compileConditions(
  conditions: readonly JsonObject[],
  functions: FunctionTable,
  hasParams = false,
): CompiledExpression[] {
  const environment = policyEnvironment(functions, { hasParams, hasAuthorizer: true });
  return conditions.map((one) => compileExpression(textAt(one, 'expression'), environment, ['bool']));
}

/**
 * Returns whether all match conditions are true. If none is false but some cannot be evaluated, returns their errors. Throws `OutOfBudget`.
 * An expression can take a tenth of a second, so evaluation yields to the event loop between expressions once the time slice of `eventLoop`
 * is used up.
 */
export async function evaluateConditions(
  conditions: readonly CompiledExpression[],
  variables: Variables,
  eventLoop: EventLoopBudget,
): Promise<boolean | readonly string[]> {
  const run = new ExpressionRun(new Map(), variables, MAX_COST);
  const problems: string[] = [];
  for (const condition of conditions) {
    if (eventLoop.isSpent) await eventLoop.renew();
    const outcome = run.evaluate(condition);
    if ('problem' in outcome) problems.push(outcome.problem);
    else if (outcome.value === false) return false;
  }
  return problems.length === 0 ? true : problems;
}

/** Joins the messages of several errors into one, in upstream's format. */
export const joinedProblems = (problems: readonly string[]): string =>
  problems.length === 1 ? problems[0]! : `[${[...new Set(problems)].join(', ')}]`;

/** Returns the error of an expression that does not compile. Ignores empty expressions, which are reported by the kind's strategy. */
export function expressionError(field: string, compiled: CompiledExpression | undefined): FieldError[] {
  if (compiled === undefined || compiled.text.trim() === '' || !('problem' in compiled)) return [];
  return [invalidValue(field, compiled.text, compiled.problem)];
}
