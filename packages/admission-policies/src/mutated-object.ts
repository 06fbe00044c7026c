/** Applies one of a policy's mutations to an object (apiserver, plugin/policy/mutating/patch). */
import { ApiError } from '@podwright/api-machinery';
import { errorMessage, PodwrightError } from '@podwright/base';
import { EvaluationError, type Value, type Variables } from '@podwright/cel';
import type { ApiObject, JsonObject } from '@podwright/kube-kinds';
import {
  decodeJson,
  jsonPatch,
  mergeConfiguration,
  type Resource,
  type Schema,
  type StructType,
} from '@podwright/kube-schema';
import type { CompiledMutation } from './compiled-mutations.ts';
import { ExpressionRun, OutOfBudget } from './expression-run.ts';
import { kindFor } from './object-versions.ts';
import { configurationOf, jsonPatchOperations } from './patch-values.ts';
import type { CompiledExpression } from './policy-environment.ts';

/** Thrown if a mutation cannot be applied. The failure policy decides whether to reject the request. */
export class MutationProblem extends Error {}

type Mutating = {
  mutation: CompiledMutation;
  /** The compiled expressions of the policy's own variables, by name. */
  declared: ReadonlyMap<string, CompiledExpression>;
  /** The variables that describe the request, such as `object`. */
  variables: Variables;
  schema: Schema;
  resource: Resource;
  subresource: string;
};

/** Returns the mutated object, or the same object if a `test` operation of a JSON patch fails. Throws `MutationProblem`. */
export function mutatedObject(object: ApiObject, mutating: Mutating): JsonObject {
  const { mutation, declared, variables } = mutating;
  const value = evaluate(mutation.expression, new ExpressionRun(declared, variables));
  try {
    return mutation.type === 'JSONPatch' ? patched(object, value) : configured(object, value, mutating);
  } catch (error) {
    if (error instanceof EvaluationError) throw new MutationProblem(error.message);
    throw error;
  }
}

function evaluate(expression: CompiledExpression, run: ExpressionRun): Value {
  if ('problem' in expression) throw new MutationProblem(expression.problem);
  try {
    const outcome = run.evaluate(expression);
    if ('problem' in outcome) throw new MutationProblem(outcome.problem);
    return outcome.value;
  } catch (error) {
    throw error instanceof OutOfBudget ? new MutationProblem(error.message) : error;
  }
}

function patched(object: ApiObject, value: Value): JsonObject {
  try {
    return jsonPatch(object, jsonPatchOperations(value));
  } catch (error) {
    if (!(error instanceof PodwrightError)) throw error;
    if (errorMessage(error).endsWith('test failed')) return object;
    throw new MutationProblem(`JSON Patch: ${errorMessage(error)}`);
  }
}

function configured(object: ApiObject, value: Value, { schema, resource, subresource }: Mutating): JsonObject {
  const kind = kindFor(resource, subresource);
  const type = schema.kind(kind);
  const { apiVersion, kind: name } = object;
  const configuration = { ...configurationOf(value), apiVersion, kind: name };
  if (type === undefined)
    throw new ApiError(503, 'ServiceUnavailable', {
      message: `Resource kind ${kind.group}/${kind.version}, Kind=${kind.kind} not found. There can be a delay between when CustomResourceDefinitions are created and when they are available.`,
    });
  try {
    checkDeclared(configuration, { schema, type });
    return mergeConfiguration(object, configuration, { schema, type });
  } catch (error) {
    if (error instanceof PodwrightError) throw new MutationProblem(`error applying patch: ${errorMessage(error)}`);
    throw error;
  }
}

const UNKNOWN = /^unknown field "(.*)"$/s;

/** Throws a `MutationProblem` if the configuration has fields that the type does not declare. */
function checkDeclared(configuration: JsonObject, options: { schema: Schema; type: StructType }): void {
  const { problems } = decodeJson(configuration, options);
  const paths = problems.flatMap((problem) => UNKNOWN.exec(problem)?.[1] ?? []);
  if (paths.length === 0) return;
  const texts = paths.map((path) => `.${path}: field not declared in schema`);
  throw new MutationProblem(
    `error applying patch: failed to convert patch object to typed object: ${texts.join('\n')}`,
  );
}
