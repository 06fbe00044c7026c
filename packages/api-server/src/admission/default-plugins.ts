import type { Admission, ObjectStore } from '@podwright/api-machinery';
import type { Schema } from '@podwright/kube-schema';
import type { Authorizer } from '../authorization/authorizer.ts';
import type { EscalationCheck } from '../authorization/escalation-check.ts';
import { admissionChain } from './admission-chain.ts';
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
import { ValidatingPolicies } from './validating-policies.ts';
import { persistentVolumeClaimResize } from './volume-expansion.ts';

export type AdmissionParts = {
  store: ObjectStore;
  schema: Schema;
  authorizer: Authorizer;
  now: () => number;
  /** Without it, users may grant any permission. */
  escalation?: EscalationCheck;
  podSecurity?: Omit<PodSecurityParts, 'store'>;
};

/** Builds the admission chain from the plugins that Kubernetes 1.36 enables by default, plus NodeRestriction, in upstream's order. */
export function defaultAdmission({
  store,
  schema,
  authorizer,
  now,
  escalation,
  podSecurity,
}: AdmissionParts): Admission {
  return admissionChain([
    new NamespaceLifecycle(store),
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
    new ValidatingPolicies({ store, schema, authorizer }),
    new ResourceQuotaAdmission({ store, now }),
  ]);
}
