/** ValidatingAdmissionPolicies, which a server loads with the first one. */
export { PolicyEngine } from './policy-engine.ts';
export { policyErrors } from './policy-errors.ts';
