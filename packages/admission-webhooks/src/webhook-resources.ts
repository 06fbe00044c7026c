/** Resource names of webhook configurations in the store. */
export const MUTATING = 'mutatingwebhookconfigurations.admissionregistration.k8s.io';
export const VALIDATING = 'validatingwebhookconfigurations.admissionregistration.k8s.io';
