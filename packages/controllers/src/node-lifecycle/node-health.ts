/** Whether the kubelets of nodes still report (upstream's nodelifecycle, tryUpdateNodeHealth). Pure. */
import { formatTime, type Lease, type Node, type NodeCondition } from '@podwright/kube-api';

/** Time without a heartbeat after which a node's conditions are unknown, in milliseconds (node-monitor-grace-period). */
const GRACE_MS = 50_000;
/** The same for a node whose kubelet has never posted a status (node-startup-grace-period). */
const STARTUP_GRACE_MS = 60_000;
/** The conditions that only the kubelet knows. */
const KUBELET_CONDITIONS = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'];

/** What was seen of a node last. */
export type NodeHealth = {
  uid: string | undefined;
  heartbeat: string | undefined;
  renewTime: string | undefined;
  /** When one of them changed, by the clock of the controller. */
  probeMs: number;
};

export const readyOf = ({ status }: Node): NodeCondition | undefined =>
  status?.conditions?.find(({ type }) => type === 'Ready');

/** Returns the health after a look at the node. Any change of a heartbeat counts, also to an earlier time: the node's clock may be set. */
export function observe(known: NodeHealth | undefined, seen: { node: Node; lease?: Lease; nowMs: number }): NodeHealth {
  const { node, lease, nowMs } = seen;
  const heartbeat = readyOf(node)?.lastHeartbeatTime;
  const renewTime = lease?.spec?.renewTime ?? known?.renewTime;
  const { uid } = node.metadata;
  const isSame = known !== undefined && known.uid === uid;
  const isSilent = isSame && known.heartbeat === heartbeat && known.renewTime === renewTime;
  return { uid, heartbeat, renewTime, probeMs: isSilent ? known.probeMs : nowMs };
}

/** Returns whether the node has not reported for too long. */
export function isLost(node: Node, { probeMs }: NodeHealth, nowMs: number): boolean {
  return nowMs - probeMs > (readyOf(node) === undefined ? STARTUP_GRACE_MS : GRACE_MS);
}

/** Returns the conditions of a node that is lost; `undefined` if they are those that it has. `dayMs` is Unix time in milliseconds. */
export function lostConditions(node: Node, dayMs: number): NodeCondition[] | undefined {
  const conditions = node.status?.conditions ?? [];
  if (readyOf(node)?.status === 'Unknown') return undefined;
  const lastTransitionTime = formatTime(dayMs);
  const known = conditions.map((one): NodeCondition => {
    if (!KUBELET_CONDITIONS.includes(one.type) || one.status === 'Unknown') return one;
    const message = 'Kubelet stopped posting node status.';
    return { ...one, status: 'Unknown', reason: 'NodeStatusUnknown', message, lastTransitionTime };
  });
  const missing = KUBELET_CONDITIONS.filter((type) => conditions.every((one) => one.type !== type));
  const never = missing.map((type): NodeCondition => {
    const reason = { reason: 'NodeStatusNeverUpdated', message: 'Kubelet never posted node status.' };
    const lastHeartbeatTime = node.metadata.creationTimestamp;
    return { type, status: 'Unknown', ...reason, lastHeartbeatTime, lastTransitionTime };
  });
  return [...known, ...never];
}
