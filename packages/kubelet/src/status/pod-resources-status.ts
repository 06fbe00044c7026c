import {
  type AmountKind,
  allContainers,
  containersAmount,
  containersAmountNames,
  formatQuantity,
  isPodLevelResource,
  type Pod,
  type PodSpec,
  type PodStatus,
  parseQuantity,
  podLevelAmount,
  type ResourceList,
} from '@podwright/kube-api';

/** Returns the pod's resources: the pod-level ones or, if there are none, the sum over its containers, plus the pod overhead. */
export function podResourcesStatus({ spec }: Pod): Pick<PodStatus, 'resources' | 'allocatedResources'> {
  const requests = amounts(spec, 'requests');
  const limits = amounts(spec, 'limits');
  const isAny = (list: ResourceList) => Object.keys(list).length > 0;
  return {
    resources: { ...(isAny(limits) && { limits }), ...(isAny(requests) && { requests }) },
    ...(isAny(requests) && { allocatedResources: requests }),
  };
}

/** Sums up requests or limits. The overhead is always added to requests, but to a limit only if there is one. */
function amounts(spec: PodSpec, kind: AmountKind): ResourceList {
  const own = Object.keys(spec.resources?.[kind] ?? {}).filter(isPodLevelResource);
  const overhead = kind === 'requests' ? Object.keys(spec.overhead ?? {}) : [];
  const names = new Set([...containersAmountNames(spec, kind), ...own, ...overhead]);
  return Object.fromEntries([...names].map((name) => [name, amount(spec, kind, name)]));
}

function amount(spec: PodSpec, kind: AmountKind, name: string): string {
  const nanos = podLevelAmount(spec, kind, name) ?? containersAmount(spec, kind, name);
  const overhead = spec.overhead?.[name];
  const added = overhead === undefined || (kind === 'limits' && nanos === 0n) ? 0n : parseQuantity(overhead).nanos;
  const texts = [spec, ...allContainers(spec)].map(({ resources }) => resources?.[kind]?.[name]);
  return formatQuantity(nanos + added, texts.find((text) => text !== undefined) ?? overhead ?? '');
}
