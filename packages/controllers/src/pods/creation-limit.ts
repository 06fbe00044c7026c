import type { Pod } from '@podwright/kube-api';

/** Maximum number of an owner's pods created in one sync (upstream's BurstReplicas, MaxPodCreateDeletePerSync). */
const MAX_BURST = 500;
/**
 * Maximum number of an owner's pods that are waiting for a node or to start. The desired number can be any 31-bit integer, and no server
 * could store that many pods.
 */
const MAX_WAITING = 1000;

/**
 * Returns how many of the missing pods one sync may create; `pods` are the owner's existing pods. If too many of them are waiting, the
 * owner is synced again when one of them changes.
 */
export function creationsNow(missing: number, pods: readonly Pod[]): number {
  const room = MAX_WAITING - pods.filter(isWaiting).length;
  return Math.max(0, Math.min(missing, MAX_BURST, room));
}

function isWaiting({ status }: Pod): boolean {
  return (status?.phase ?? 'Pending') === 'Pending';
}
