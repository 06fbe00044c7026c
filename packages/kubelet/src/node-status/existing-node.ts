import { isHugePages, type Node } from '@podwright/kube-api';
import { CONTROLLER_ATTACHES } from './initial-node.ts';
import { isExtendedResource, isSameQuantity } from './node-capacity-status.ts';

/** Labels that are updated on an existing node object if the kubelet has values for them (upstream's updateDefaultLabels). */
const DEFAULT_LABELS = [
  'kubernetes.io/hostname',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'node.kubernetes.io/instance-type',
  'beta.kubernetes.io/instance-type',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'node.kubernetes.io/windows-build',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
];

/**
 * Updates an existing Node object at registration: its standard labels, the attach-detach annotation, and its capacity. Everything else,
 * including taints and other labels and annotations, is owned by other writers. Returns the same object if nothing changes.
 */
export function takeOverNode(
  existing: Node,
  initial: Node,
  { resetExtendedResources }: { resetExtendedResources: boolean },
): Node {
  const metadata = {
    ...existing.metadata,
    ...takenLabels(existing, initial),
    ...takenAnnotations(existing, initial),
  };
  const { capacity = {}, allocatable = {} } = takenResources(existing, initial, resetExtendedResources);
  const taken = { ...existing, metadata, status: { ...existing.status, capacity, allocatable } };
  return needsWrite(existing, taken) ? taken : existing;
}

function needsWrite(existing: Node, taken: Node): boolean {
  const amounts = ['capacity', 'allocatable'] as const;
  return (
    existing.metadata.labels !== taken.metadata.labels ||
    existing.metadata.annotations !== taken.metadata.annotations ||
    amounts.some((key) => !areSameAmounts(existing.status?.[key], taken.status?.[key]))
  );
}

function areSameAmounts(one: Record<string, string> = {}, other: Record<string, string> = {}): boolean {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].every((name) => isSameQuantity(one[name], other[name]));
}

function takenLabels({ metadata: { labels } }: Node, initial: Node): { labels?: Record<string, string> } {
  const wanted = Object.entries(initial.metadata.labels ?? {}).filter(([label]) => DEFAULT_LABELS.includes(label));
  if (wanted.every(([label, value]) => (labels?.[label] ?? '') === value)) return {};
  const kept = Object.entries({ ...labels, ...Object.fromEntries(wanted) });
  return { labels: Object.fromEntries(kept.filter(([label, value]) => value !== '' || !isWanted(wanted, label))) };
}

const isWanted = (wanted: [string, string][], label: string) => wanted.some(([one]) => one === label);

function takenAnnotations(
  { metadata: { annotations } }: Node,
  initial: Node,
): { annotations?: Record<string, string> } {
  const wanted = initial.metadata.annotations?.[CONTROLLER_ATTACHES];
  const { [CONTROLLER_ATTACHES]: before, ...others } = annotations ?? {};
  if ((wanted ?? '') === (before ?? '')) return {};
  return { annotations: wanted === undefined ? others : { ...others, [CONTROLLER_ATTACHES]: wanted } };
}

type Amounts = { capacity?: Record<string, string>; allocatable?: Record<string, string> };

/**
 * Returns the capacity and allocatable for an existing Node object at registration. Extended resources are reset to zero if no device
 * plugin has ever registered. Huge pages are always those of the host.
 */
function takenResources(existing: Node, initial: Node, resetExtendedResources: boolean): Amounts {
  const isKept = (name: string) => !isHugePages(name) || initial.status?.capacity?.[name] !== undefined;
  const isReset = (name: string) => resetExtendedResources && isExtendedResource(name);
  const capacity = existing.status?.capacity ?? initial.status?.capacity ?? {};
  const reset = Object.keys(capacity).filter(isReset);
  const take = (kind: 'capacity' | 'allocatable') => {
    const amounts = Object.entries(existing.status?.[kind] ?? initial.status?.[kind] ?? {});
    const pages = Object.entries(initial.status?.[kind] ?? {}).filter(([name]) => isHugePages(name));
    const none = reset.map((name) => [name, '0'] as const);
    return Object.fromEntries([...amounts.filter(([name]) => isKept(name)), ...none, ...pages]);
  };
  return { capacity: take('capacity'), allocatable: take('allocatable') };
}
