/** The names under which the store has the configurations of webhooks. */
export const MUTATING = 'mutatingwebhookconfigurations.admissionregistration.k8s.io';
export const VALIDATING = 'validatingwebhookconfigurations.admissionregistration.k8s.io';
