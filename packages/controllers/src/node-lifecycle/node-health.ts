/** Decides whether a node's kubelet still sends heartbeats (upstream's nodelifecycle, tryUpdateNodeHealth). Pure. */
import { findCondition, formatTime, type Lease, type Node, type NodeCondition } from '@podwright/kube-api';

/** After this time without a heartbeat, a node's conditions become Unknown, in milliseconds (node-monitor-grace-period). */
const GRACE_MS = 50_000;
/**
 * How long a kubelet that has never posted a status may take to do so before the node's conditions become Unknown, in milliseconds
 * (node-startup-grace-period).
 */
const STARTUP_GRACE_MS = 60_000;
/** Types of the node conditions that only the kubelet reports. */
const KUBELET_CONDITIONS = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'];

/** A node's heartbeats at the last check. */
export type NodeHealth = {
  uid: string | undefined;
  heartbeat: string | undefined;
  renewTime: string | undefined;
  /** When any of the heartbeats last changed, on the controller's `AwakeClock`. */
  probeMs: number;
};

/** Returns the `Ready` condition of a node. */
export const readyOf = ({ status }: Node): NodeCondition | undefined => findCondition(status?.conditions, 'Ready');

/**
 * Updates the health of a node. Any change of a heartbeat counts, even to an earlier time, because the node's clock might have been
 * changed.
 */
export function observe(known: NodeHealth | undefined, seen: { node: Node; lease?: Lease; nowMs: number }): NodeHealth {
  const { node, lease, nowMs } = seen;
  const heartbeat = readyOf(node)?.lastHeartbeatTime;
  const renewTime = lease?.spec?.renewTime ?? known?.renewTime;
  const { uid } = node.metadata;
  const isSame = known !== undefined && known.uid === uid;
  const isSilent = isSame && known.heartbeat === heartbeat && known.renewTime === renewTime;
  return { uid, heartbeat, renewTime, probeMs: isSilent ? known.probeMs : nowMs };
}

/** Whether the node's last heartbeat is too old. */
export function isLost(node: Node, { probeMs }: NodeHealth, nowMs: number): boolean {
  return nowMs - probeMs > (readyOf(node) === undefined ? STARTUP_GRACE_MS : GRACE_MS);
}

/** Returns the conditions to set on a lost node, or `undefined` if it already has them. `unixMs` is a Unix time in milliseconds. */
export function lostConditions(node: Node, unixMs: number): NodeCondition[] | undefined {
  const conditions = node.status?.conditions ?? [];
  if (readyOf(node)?.status === 'Unknown') return undefined;
  const lastTransitionTime = formatTime(unixMs);
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
