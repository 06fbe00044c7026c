import type { Strategies } from '../strategy.ts';
import { MUTATING_ADMISSION_POLICY, VALIDATING_ADMISSION_POLICY } from './admission-policies.ts';
import { API_SERVICE } from './api-service.ts';
import { CERTIFICATE_SIGNING_REQUEST } from './certificate-request.ts';
import { FLOW_SCHEMA } from './flow-schema.ts';
import { MUTATING_ADMISSION_POLICY_BINDING, VALIDATING_ADMISSION_POLICY_BINDING } from './policy-bindings.ts';
import { PRIORITY_LEVEL_CONFIGURATION } from './priority-level.ts';
import { CLUSTER_ROLE_BINDING, ROLE_BINDING } from './role-bindings.ts';
import { CLUSTER_ROLE, ROLE } from './roles.ts';
import { MUTATING_WEBHOOK_CONFIGURATION, VALIDATING_WEBHOOK_CONFIGURATION } from './webhook-configurations.ts';

/** Who may do what, and what the API consists of. */
export const ACCESS_STRATEGIES: Strategies = {
  'roles.rbac.authorization.k8s.io': ROLE,
  'clusterroles.rbac.authorization.k8s.io': CLUSTER_ROLE,
  'rolebindings.rbac.authorization.k8s.io': ROLE_BINDING,
  'clusterrolebindings.rbac.authorization.k8s.io': CLUSTER_ROLE_BINDING,
  'certificatesigningrequests.certificates.k8s.io': CERTIFICATE_SIGNING_REQUEST,
  'validatingwebhookconfigurations.admissionregistration.k8s.io': VALIDATING_WEBHOOK_CONFIGURATION,
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': MUTATING_WEBHOOK_CONFIGURATION,
  'validatingadmissionpolicies.admissionregistration.k8s.io': VALIDATING_ADMISSION_POLICY,
  'validatingadmissionpolicybindings.admissionregistration.k8s.io': VALIDATING_ADMISSION_POLICY_BINDING,
  'mutatingadmissionpolicies.admissionregistration.k8s.io': MUTATING_ADMISSION_POLICY,
  'mutatingadmissionpolicybindings.admissionregistration.k8s.io': MUTATING_ADMISSION_POLICY_BINDING,
  'flowschemas.flowcontrol.apiserver.k8s.io': FLOW_SCHEMA,
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io': PRIORITY_LEVEL_CONFIGURATION,
  'apiservices.apiregistration.k8s.io': API_SERVICE,
};
