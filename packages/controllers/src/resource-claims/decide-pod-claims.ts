/** Decides what has to be done about the ResourceClaims that a pod needs (pkg/controller/resourceclaim/controller.go, syncPod). Pure. */
import { claimStatusesOf, type KubeObject, type Pod } from '@podwright/kube-api';
import { PODS } from '@podwright/kube-client';
import type { ClaimConsumer, ResourceClaimTemplate, StoredClaim } from '../objects/resource-claim.ts';
import { isControlledBy, type Owner } from '../pods/controller-reference.ts';
import { isActive } from '../pods/pod-state.ts';

export const POD_CLAIM_ANNOTATION = 'resource.kubernetes.io/pod-claim-name';
const MAX_BASE_LENGTH = 57;
/** Maximum number of consumers of a claim (resource.ResourceClaimReservedForMaxSize). */
const MAX_CONSUMERS = 256;

/** What has to be done for one entry of a pod's `spec.resourceClaims`. */
export type PodClaimStep =
  | { type: 'none' }
  /** The claim exists, but has yet to be named in the pod's status. */
  | { type: 'name'; podClaim: string; claim: StoredClaim }
  | { type: 'create'; podClaim: string; template: string };

export type PodClaimsState = {
  pod: Pod;
  claimOf: (name: string) => StoredClaim | undefined;
  /** The ResourceClaims controlled by the pod. */
  owned: readonly StoredClaim[];
};

/** Whether the pod might still run and therefore needs its claims. */
export function needsClaims(pod: Pod): boolean {
  return isActive(pod) && (pod.spec.resourceClaims ?? []).length > 0;
}

export function decidePodClaims({ pod, claimOf, owned }: PodClaimsState): PodClaimStep[] {
  const { resourceClaimStatuses = [] } = claimStatusesOf(pod);
  return (pod.spec.resourceClaims ?? []).map(({ name, resourceClaimTemplateName: template }) => {
    if (template === undefined) return { type: 'none' };
    const status = resourceClaimStatuses.find((one) => one.name === name);
    if (status !== undefined && status.resourceClaimName === undefined) return { type: 'none' }; // none is needed
    const named = claimOf(status?.resourceClaimName ?? '');
    if (named !== undefined && isFor(named, pod)) return { type: 'none' };
    // an earlier process might have crashed after creating the claim but before recording its name in the pod's status
    const existing = owned.find((one) => one.metadata.annotations?.[POD_CLAIM_ANNOTATION] === name && isFor(one, pod));
    return existing === undefined
      ? { type: 'create', podClaim: name, template }
      : { type: 'name', podClaim: name, claim: existing };
  });
}

/** Returns the allocated claims that still have to be reserved for a pod assigned to a node without the scheduler. */
export function unreservedClaims({ pod, claimOf }: Omit<PodClaimsState, 'owned'>): StoredClaim[] {
  if ((pod.spec.nodeName ?? '') === '') return [];
  const { resourceClaimStatuses = [] } = claimStatusesOf(pod);
  return (pod.spec.resourceClaims ?? []).flatMap(({ name, resourceClaimName }) => {
    const generated = resourceClaimStatuses.find((one) => one.name === name)?.resourceClaimName;
    const claim = claimOf(resourceClaimName ?? generated ?? '');
    const isOwn = resourceClaimName !== undefined || (claim !== undefined && isFor(claim, pod));
    const { allocation, reservedFor = [] } = claim?.status ?? {};
    const isReserved = reservedFor.some(({ uid }) => uid === pod.metadata.uid);
    const canBeReserved = isOwn && allocation !== undefined && !isReserved && reservedFor.length < MAX_CONSUMERS;
    return claim !== undefined && canBeReserved ? [claim] : [];
  });
}

export function consumerOf({ metadata: { name, uid } }: Pod): ClaimConsumer {
  return { resource: 'pods', name, uid };
}

/** Builds a pod's claim from a template. The server generates its name. */
export function claimFromTemplate(pod: Pod, podClaim: string, { spec }: ResourceClaimTemplate): KubeObject {
  const { name, namespace, uid } = pod.metadata;
  const { labels, annotations } = spec.metadata ?? {};
  const body = {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaim',
    metadata: {
      generateName: claimPrefix(name, podClaim),
      namespace,
      ...(labels === undefined ? {} : { labels }),
      annotations: { ...annotations, [POD_CLAIM_ANNOTATION]: podClaim },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid, controller: true }],
    },
    spec: spec.spec,
  };
  return body;
}

/**
 * Returns the `generateName` prefix `POD-CLAIM-` of a pod's claim. If it is too long, truncates the pod's and the claim's name
 * proportionally.
 */
function claimPrefix(pod: string, claim: string): string {
  const whole = `${pod}-${claim}-`;
  if (whole.length <= MAX_BASE_LENGTH) return whole;
  const cut = (name: string) => name.slice(0, Math.floor((name.length * MAX_BASE_LENGTH) / whole.length));
  return `${cut(pod)}-${cut(claim)}`;
}

function isFor(claim: StoredClaim, pod: Pod): boolean {
  return isControlledBy(claim, PODS, pod as Owner);
}
