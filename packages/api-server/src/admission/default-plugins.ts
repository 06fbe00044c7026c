import { MutatingPolicies, type PolicyParts, ValidatingPolicies } from '@podwright/admission-policies/plugins';
import type { Admission } from '@podwright/api-machinery';
import type { EscalationCheck } from '../authorization/escalation-check.ts';
import { admissionChain } from './admission-chain.ts';
import type { AdmissionPlugin } from './admission-plugin.ts';
import { certificateApproval, certificateSigning, certificateSubjectRestriction } from './certificate-plugins.ts';
import { defaultIngressClass, defaultStorageClass } from './default-classes.ts';
import { defaultTolerationSeconds } from './default-tolerations.ts';
import { LimitRanger } from './limit-ranger.ts';
import { NamespaceLifecycle } from './namespace-lifecycle.ts';
import { NodeRestriction } from './node-restriction.ts';
import { podResizeValidator } from './pod-resize.ts';
import { PodSecurity, type PodSecurityParts } from './pod-security.ts';
import { PriorityAdmission } from './priority.ts';
import { rbacEscalation } from './rbac-escalation.ts';
import { ResourceQuotaAdmission } from './resource-quota.ts';
import { RuntimeClassAdmission } from './runtime-class.ts';
import { ServiceAccountAdmission } from './service-account.ts';
import { podTopologyLabels, storageObjectInUseProtection, taintNodesByCondition } from './small-plugins.ts';
import { persistentVolumeClaimResize } from './volume-expansion.ts';

export type AdmissionParts = PolicyParts & {
  now: () => number;
  /** The plugins that call webhooks. Default: webhooks are not called. */
  webhooks?: Partial<Record<'mutating' | 'validating', AdmissionPlugin>>;
  /** Rejects RBAC objects that grant permissions their writer lacks. If unset, users may grant any permission. */
  escalation?: EscalationCheck;
  podSecurity?: Omit<PodSecurityParts, 'store'>;
};

/** Builds the admission chain from the plugins that Kubernetes 1.36 enables by default, plus NodeRestriction, in upstream's order. */
export function defaultAdmission({ now, escalation, podSecurity, webhooks = {}, ...parts }: AdmissionParts): Admission {
  const { store, authorizer } = parts;
  const namespaces = new NamespaceLifecycle(store);
  return admissionChain([
    namespaces,
    new LimitRanger(store),
    new ServiceAccountAdmission({ store }),
    new NodeRestriction({ store, authorizer }),
    taintNodesByCondition,
    new PodSecurity({ store, ...podSecurity }),
    new PriorityAdmission(store),
    defaultTolerationSeconds,
    defaultStorageClass(store),
    storageObjectInUseProtection,
    persistentVolumeClaimResize(store),
    new RuntimeClassAdmission(store),
    certificateApproval(authorizer),
    certificateSigning(authorizer),
    certificateSubjectRestriction,
    defaultIngressClass(store),
    podTopologyLabels(store),
    podResizeValidator(store),
    ...(escalation === undefined ? [] : [rbacEscalation(escalation)]),
    new MutatingPolicies(parts),
    ...(webhooks.mutating ? [webhooks.mutating] : []),
    new ValidatingPolicies(parts),
    ...(webhooks.validating ? [webhooks.validating] : []),
    // checks the namespace again: webhooks can take up to 30 s, and meanwhile the namespace and all its objects might have been deleted
    { name: namespaces.name, validate: (attributes) => namespaces.validate(attributes) },
    new ResourceQuotaAdmission({ store, now }),
  ]);
}
