/** ValidatingAdmissionPolicies and MutatingAdmissionPolicies. Servers load this module only once a policy exists, to save memory. */

export { OutOfBudget } from './expression-run.ts';
export { compileConditions, evaluateConditions, expressionError, joinedProblems } from './match-conditions.ts';
export { MutationEngine } from './mutation-engine.ts';
export { toStorageVersion, versionedObject } from './object-versions.ts';
export type { PolicyAuthorizer } from './policy-authorizer.ts';
export { PolicyEngine } from './policy-engine.ts';
export { type CompiledExpression, policyFunctions } from './policy-environment.ts';
export { mutationErrors, policyErrors } from './policy-errors.ts';
export { InvokedHooks } from './reinvocation.ts';
export { type MatchingParts, RequestMatcher } from './request-matching.ts';
export { admissionRequest, requestVariables } from './request-values.ts';
