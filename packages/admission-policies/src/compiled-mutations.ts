/** The compiled expressions of a MutatingAdmissionPolicy (apiserver, plugin/policy/mutating/compilation.go). */
import type { FunctionTable } from '@podwright/cel';
import { type ApiObject, objectsAt, textAt } from '@podwright/kube-kinds';
import { compileCommonParts } from './compiled-policy.ts';
import { JSON_PATCH_LIST, OBJECT } from './patch-values.ts';
import { type CompiledExpression, compileExpression, policyFunctions } from './policy-environment.ts';

export type CompiledMutation = {
  readonly type: 'ApplyConfiguration' | 'JSONPatch';
  readonly expression: CompiledExpression;
};

export type CompiledMutations = {
  readonly conditions: readonly CompiledExpression[];
  /** The variables by name, in policy order: each may use the ones before it. */
  readonly variables: ReadonlyMap<string, CompiledExpression>;
  readonly mutations: readonly CompiledMutation[];
};

/** Compiles all expressions of a policy. If one does not compile, its error is stored instead. */
export function compileMutations(policy: ApiObject, functions: FunctionTable = policyFunctions()): CompiledMutations {
  const { conditions, variables, environment } = compileCommonParts(policy, functions, true);
  const patching = environment({ hasAuthorizer: true, hasPatches: true });
  const mutations = objectsAt(policy, 'spec', 'mutations').map((mutation): CompiledMutation => {
    const isPatch = textAt(mutation, 'patchType') === 'JSONPatch';
    const text = textAt(mutation, isPatch ? 'jsonPatch' : 'applyConfiguration', 'expression');
    const expression = compileExpression(text, patching, [isPatch ? JSON_PATCH_LIST : OBJECT]);
    return { type: isPatch ? 'JSONPatch' : 'ApplyConfiguration', expression };
  });
  return { conditions, variables, mutations };
}
