/** ValidatingAdmissionPolicies. A server loads this package when the first policy is created, to save memory. */
export { PolicyEngine } from './policy-engine.ts';
export { policyErrors } from './policy-errors.ts';
