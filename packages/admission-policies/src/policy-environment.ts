/** The environment of policy expressions (apiserver, pkg/admission/plugin/cel/compile.go). */
import {
  CompileError,
  compile,
  type Environment,
  type FunctionTable,
  kubernetesFunctions,
  mergedFunctions,
  type Program,
  schemaValues,
  celTypes as types,
  type ValueSchema,
} from '@podwright/cel';
import { AUTHORIZER, AUTHORIZER_FUNCTIONS, RESOURCE_CHECK } from './authorizer-values.ts';
import { PATCH_FUNCTIONS, patchMessages } from './patch-values.ts';

type CelType = Program['type'];

/** Returns the functions for policy expressions. Each result has its own cache of compiled regular expressions. */
export const policyFunctions = (): FunctionTable => mergedFunctions([kubernetesFunctions(), AUTHORIZER_FUNCTIONS]);

const { STRING, BOOL, DYN, listOf, mapOf, objectOf } = types;

const versioned = (name: string, last: string): CelType =>
  objectOf(name, [
    ['group', STRING],
    ['version', STRING],
    [last, STRING],
  ]);

const KIND = versioned('kubernetes.GroupVersionKind', 'kind');
const RESOURCE = versioned('kubernetes.GroupVersionResource', 'resource');
const USER = objectOf('kubernetes.UserInfo', [
  ['username', STRING],
  ['uid', STRING],
  ['groups', listOf(STRING)],
  ['extra', mapOf(STRING, listOf(STRING))],
]);

const REQUEST = objectOf('kubernetes.AdmissionRequest', [
  ['kind', KIND],
  ['resource', RESOURCE],
  ['subResource', STRING],
  ['requestKind', KIND],
  ['requestResource', RESOURCE],
  ['requestSubResource', STRING],
  ['name', STRING],
  ['namespace', STRING],
  ['operation', STRING],
  ['userInfo', USER],
  ['dryRun', BOOL],
  ['options', DYN],
]);

const TEXT: ValueSchema = { type: 'string' };
const TIME: ValueSchema = { type: 'string', format: 'date-time' };
const TEXTS: ValueSchema = { type: 'array', items: TEXT };
const TEXT_MAP: ValueSchema = { type: 'object', additionalProperties: TEXT };
const INTEGER: ValueSchema = { type: 'integer' };
const object = (properties: Record<string, ValueSchema>): ValueSchema => ({ type: 'object', properties });

/** The fields of `namespaceObject` that policy expressions can read. */
const NAMESPACE: ValueSchema = object({
  metadata: object({
    ...{ name: TEXT, generateName: TEXT, namespace: TEXT, labels: TEXT_MAP, annotations: TEXT_MAP, UID: TEXT },
    ...{ creationTimestamp: TIME, deletionGracePeriodSeconds: INTEGER, deletionTimestamp: TIME, generation: INTEGER },
    ...{ resourceVersion: TEXT, finalizers: TEXTS },
  }),
  spec: object({ finalizers: TEXTS }),
  status: object({
    phase: TEXT,
    conditions: {
      type: 'array',
      items: object({ status: TEXT, type: TEXT, lastTransitionTime: TIME, message: TEXT, reason: TEXT }),
    },
  }),
});

export const NAMESPACE_VALUES = schemaValues(NAMESPACE, { name: 'kubernetes.Namespace' })!;

export type Uses = {
  readonly hasParams: boolean;
  readonly hasAuthorizer: boolean;
  /** Whether expressions can create `Object` and `JSONPatch` values, as in mutations. Default: false. */
  readonly hasPatches?: boolean;
};

/** Returns the environment for expressions. `variables`: the types of the policy's variables; omitted for match conditions. */
export function policyEnvironment(
  functions: FunctionTable,
  { hasParams, hasAuthorizer, hasPatches = false }: Uses,
  variables?: ReadonlyMap<string, CelType>,
): Environment {
  return {
    functions: hasPatches ? mergedFunctions([functions, PATCH_FUNCTIONS]) : functions,
    ...(hasPatches && { messages: patchMessages }),
    variables: {
      object: DYN,
      oldObject: DYN,
      request: REQUEST,
      namespaceObject: NAMESPACE_VALUES.type,
      ...(variables === undefined ? {} : { variables: objectOf('kubernetes.variables', variables) }),
      ...(hasParams ? { params: DYN } : {}),
      ...(hasAuthorizer
        ? { authorizer: types.opaque(AUTHORIZER), 'authorizer.requestResource': types.opaque(RESOURCE_CHECK) }
        : {}),
    },
  };
}

export type CompiledExpression = { readonly text: string } & (
  | { readonly program: Program }
  | { readonly problem: string }
);

/** Compiles an expression. `accepted`: the accepted result types, named as in error messages. Default: all types. */
export function compileExpression(
  text: string,
  environment: Environment,
  accepted?: readonly string[],
): CompiledExpression {
  try {
    const program = compile(text, environment);
    const found = types.formatType(program.type);
    if (accepted === undefined || accepted.includes(found)) return { text, program };
    const names = accepted.map((type) => (type === 'null' ? 'null_type' : type));
    const expected = names.length === 1 ? names[0] : `one of [${names.join(' ')}]`;
    return { text, problem: `must evaluate to ${expected} but got ${found}` };
  } catch (error) {
    if (error instanceof CompileError) return { text, problem: `compilation failed: ${error.message}` };
    throw error;
  }
}
