import type { Pod } from '@podwright/kube-api';

/** Most pods that one decision creates for an owner (upstream's BurstReplicas, MaxPodCreateDeletePerSync). */
const MAX_BURST = 500;
/** Most pods of an owner that wait for a node or for their start. The number of wanted pods can be any of 31 bits, which no server can store. */
const MAX_WAITING = 1000;

/**
 * Returns how many of the missing pods a decision may create; `pods` are those that the owner has. If too many of them wait, the owner is handled
 * again when one of them changes.
 */
export function creationsNow(missing: number, pods: readonly Pod[]): number {
  const room = MAX_WAITING - pods.filter(isWaiting).length;
  return Math.max(0, Math.min(missing, MAX_BURST, room));
}

function isWaiting({ status }: Pod): boolean {
  return (status?.phase ?? 'Pending') === 'Pending';
}
