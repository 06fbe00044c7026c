import { isDeepStrictEqual } from 'node:util';
import type { Node, NodeCondition, NodeStatus } from '@podwright/kube-api';
import { nodeArchitecture } from './host-facts.ts';
import { updateResources } from './node-capacity-status.ts';
import { type NodeEvent, nodeStatusEvent, updateConditions } from './node-conditions.ts';
import type { ObservedNode } from './observed-node.ts';

/** Annotation that passes the `--node-ip` addresses to the cloud controller. */
const PROVIDED_IPS = 'alpha.kubernetes.io/provided-node-ip';

export type NodeUpdate = {
  node: Node;
  /** Whether anything in the Node object other than the heartbeat times has changed. */
  changed: boolean;
  /** Events to emit once the node object has been written. */
  events: NodeEvent[];
};

/** Updates the Node object from an observation: its status, the os and arch labels, and the provided-node-ip annotation. */
export function updateNode(node: Node, seen: ObservedNode): NodeUpdate {
  const name = node.metadata.name ?? '';
  const { status, events } = updateStatus(node.status ?? {}, seen);
  const rebooted = rebootOf(node.status, seen);
  const required = { 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': nodeArchitecture() };
  const { labels } = node.metadata;
  const labelled = Object.entries(required).every(([label, value]) => labels?.[label] === value);
  const metadata = { ...node.metadata, ...withProvidedIps(node, seen.providedIps) };
  return {
    node: { ...node, metadata: labelled ? metadata : { ...metadata, labels: { ...labels, ...required } }, status },
    changed: !labelled || statusHasChanged(node.status ?? {}, status),
    events: [
      ...(rebooted ? [bootEvent(name, seen.nodeInfo.bootID)] : []),
      ...events.map((reason) => nodeStatusEvent(name, reason)),
    ],
  };
}

const bootEvent = (name: string, bootId: string): NodeUpdate['events'][number] => ({
  ...{ type: 'Warning', reason: 'Rebooted' },
  message: `Node ${name} has been rebooted, boot id: ${bootId}`,
});

function rebootOf(known: NodeStatus | undefined, seen: ObservedNode): boolean {
  const before = known?.nodeInfo?.bootID ?? '';
  return before !== '' && before !== seen.nodeInfo.bootID;
}

function updateStatus(known: NodeStatus, seen: ObservedNode): { status: NodeStatus; events: string[] } {
  const resources = updateResources(known, seen);
  const { conditions, events } = updateConditions(known.conditions ?? [], seen, resources.capacity);
  const status = present({
    ...known,
    ...resources,
    conditions,
    addresses: addressesOf(known, seen),
    nodeInfo: { ...known.nodeInfo, ...seen.nodeInfo, swap: seen.nodeInfo.swap ?? known.nodeInfo?.swap },
    daemonEndpoints: { ...known.daemonEndpoints, kubeletEndpoint: { Port: seen.port } },
    images: seen.images,
    runtimeHandlers: seen.runtimeHandlers ?? known.runtimeHandlers,
    features: seen.features ?? known.features,
    declaredFeatures: seen.declaredFeatures,
    volumesInUse: seen.volumesInUse ?? known.volumesInUse,
  });
  return { status, events };
}

function addressesOf(known: NodeStatus, seen: ObservedNode): NodeStatus['addresses'] {
  const isOfCloud = seen.externalCloudProvider && (known.addresses ?? []).length > 0;
  return isOfCloud ? known.addresses : (seen.addresses ?? known.addresses);
}

function withProvidedIps({ metadata }: Node, ips: string | undefined): Pick<Node['metadata'], 'annotations'> {
  const { [PROVIDED_IPS]: before, ...others } = metadata.annotations ?? {};
  if (before === ips) return {};
  return { annotations: ips === undefined ? others : { ...others, [PROVIDED_IPS]: ips } };
}

/** Whether two node statuses differ, ignoring heartbeat times and the order of conditions. */
export function statusHasChanged(before: NodeStatus, after: NodeStatus): boolean {
  return !isDeepStrictEqual(comparable(before), comparable(after));
}

function comparable(status: NodeStatus): object {
  const conditions = (status.conditions ?? [])
    .map(({ lastHeartbeatTime: _, ...rest }): NodeCondition => rest)
    .toSorted((one, other) => (one.type < other.type ? -1 : 1));
  return present({ ...status, conditions });
}

/** Removes undefined values and empty lists; API servers treat both as absent. */
function present<T extends object>(object: T): T {
  const isSet = (value: unknown) => value !== undefined && !(Array.isArray(value) && value.length === 0);
  return JSON.parse(JSON.stringify(Object.fromEntries(Object.entries(object).filter(([, value]) => isSet(value)))));
}
