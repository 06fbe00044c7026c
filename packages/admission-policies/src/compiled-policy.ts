/** The compiled expressions of a ValidatingAdmissionPolicy (apiserver, plugin/policy/validating). */
import type { FunctionTable, Program } from '@podwright/cel';
import { celTypes as types } from '@podwright/cel';
import { type ApiObject, objectAt, objectsAt, textAt } from '@podwright/kube-kinds';
import { compileConditions } from './match-conditions.ts';
import {
  type CompiledExpression,
  compileExpression,
  policyEnvironment,
  policyFunctions,
  type Uses,
} from './policy-environment.ts';

type CelType = Program['type'];

export type CompiledPolicy = {
  readonly conditions: readonly CompiledExpression[];
  /** The variables by name, in policy order: each may use the ones before it. */
  readonly variables: ReadonlyMap<string, CompiledExpression>;
  readonly validations: readonly CompiledValidation[];
  readonly annotations: readonly { readonly key: string; readonly value: CompiledExpression }[];
};

export type CompiledValidation = {
  readonly expression: CompiledExpression;
  readonly message: string;
  readonly messageExpression: CompiledExpression | undefined;
  readonly reason: string;
};

/** The types that the compiler tracks for variables. A variable of any other type is `dyn`. */
const KNOWN_TYPES = [
  'bool',
  'bytes',
  'double',
  'duration',
  'int',
  'null',
  'string',
  'timestamp',
  'uint',
  'list',
  'map',
];

/** Compiles all expressions of a policy. If one does not compile, its error is stored instead. */
export function compilePolicy(policy: ApiObject, functions: FunctionTable = policyFunctions()): CompiledPolicy {
  const { spec } = policy;
  const { conditions, variables, environment } = compileCommonParts(
    policy,
    functions,
    objectsAt(spec, 'variables').length > 0,
  );
  const [withAuthorizer, without] = [environment({ hasAuthorizer: true }), environment({ hasAuthorizer: false })];
  return {
    conditions,
    variables,
    validations: objectsAt(spec, 'validations').map((one) => {
      const message = textAt(one, 'messageExpression');
      return {
        expression: compileExpression(textAt(one, 'expression'), withAuthorizer, ['bool']),
        message: textAt(one, 'message'),
        messageExpression: message === '' ? undefined : compileExpression(message, without, ['string']),
        reason: textAt(one, 'reason') || 'Invalid',
      };
    }),
    annotations: objectsAt(spec, 'auditAnnotations').map((one) => ({
      key: textAt(one, 'key'),
      value: compileExpression(textAt(one, 'valueExpression'), withAuthorizer, ['string', 'null']),
    })),
  };
}

/**
 * Compiles the parts that validating and mutating policies have in common: variables and match conditions. `hasVariables`: whether the
 * policy's other expressions can use `variables`. The returned function `environment` builds the environment for compiling them.
 */
export function compileCommonParts({ spec }: ApiObject, functions: FunctionTable, hasVariables: boolean) {
  const hasParams = objectAt(spec, 'paramKind') !== undefined;
  const variables = new Map<string, CompiledExpression>();
  const declared = new Map<string, CelType>();
  const environment = (uses: Omit<Uses, 'hasParams'>) =>
    policyEnvironment(functions, { hasParams, ...uses }, hasVariables ? declared : undefined);
  for (const variable of objectsAt(spec, 'variables')) {
    const name = textAt(variable, 'name');
    const compiled = compileExpression(textAt(variable, 'expression'), environment({ hasAuthorizer: true }));
    const type = 'program' in compiled ? compiled.program.type : types.DYN;
    variables.set(name, compiled);
    declared.set(name, KNOWN_TYPES.includes(type.kind) ? type : types.DYN);
  }
  const conditions = compileConditions(objectsAt(spec, 'matchConditions'), functions, hasParams);
  return { conditions, variables, environment };
}
