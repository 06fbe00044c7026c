import type { Strategies } from '../strategy.ts';
import { MUTATING_ADMISSION_POLICY, VALIDATING_ADMISSION_POLICY } from './admission-policies.ts';
import { API_SERVICE } from './api-service.ts';
import { CERTIFICATE_SIGNING_REQUEST } from './certificate-request.ts';
import { CUSTOM_RESOURCE_DEFINITION } from './custom-resource-definition.ts';
import { FLOW_SCHEMA } from './flow-schema.ts';
import { MUTATING_ADMISSION_POLICY_BINDING, VALIDATING_ADMISSION_POLICY_BINDING } from './policy-bindings.ts';
import { PRIORITY_LEVEL_CONFIGURATION } from './priority-level.ts';
import {
  LOCAL_SUBJECT_ACCESS_REVIEW,
  SELF_SUBJECT_ACCESS_REVIEW,
  SUBJECT_ACCESS_REVIEW,
  UNCHECKED_REVIEW,
} from './reviews.ts';
import { CLUSTER_ROLE_BINDING, ROLE_BINDING } from './role-bindings.ts';
import { CLUSTER_ROLE, ROLE } from './roles.ts';
import { TOKEN_REQUEST } from './token-request.ts';
import { MUTATING_WEBHOOK_CONFIGURATION, VALIDATING_WEBHOOK_CONFIGURATION } from './webhook-configurations.ts';

/**
 * Strategies for the kinds that control access and for those that configure the API itself. `serviceaccounts/token` is the subresource for
 * token requests, which, like reviews, are answered but not stored.
 */
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
  'customresourcedefinitions.apiextensions.k8s.io': CUSTOM_RESOURCE_DEFINITION,
  'tokenreviews.authentication.k8s.io': UNCHECKED_REVIEW,
  'selfsubjectreviews.authentication.k8s.io': UNCHECKED_REVIEW,
  'subjectaccessreviews.authorization.k8s.io': SUBJECT_ACCESS_REVIEW,
  'selfsubjectaccessreviews.authorization.k8s.io': SELF_SUBJECT_ACCESS_REVIEW,
  'localsubjectaccessreviews.authorization.k8s.io': LOCAL_SUBJECT_ACCESS_REVIEW,
  'selfsubjectrulesreviews.authorization.k8s.io': UNCHECKED_REVIEW,
  'serviceaccounts/token': TOKEN_REQUEST,
};
