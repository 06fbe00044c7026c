import type { Pod } from '@podwright/kube-api';
import { creationsNow } from '../pods/creation-limit.ts';
import { podsToDelete } from './pods-to-delete.ts';

/** Maximum number of pods deleted in one sync (upstream's BurstReplicas). */
const MAX_DELETIONS = 500;

export type ReplicasState = {
  /** Number of pods requested by the owner's spec. */
  wanted: number;
  /** Whether the owner is being deleted, in which case it leaves its pods alone. */
  isDeleting: boolean;
  /** The owner's active pods (neither in a terminal phase nor being deleted). */
  active: readonly Pod[];
  /** All pods, active or not, of the ReplicaSets with the same controller. */
  related: readonly Pod[];
  nowMs: number;
};

export type ReplicasAction = { type: 'create'; count: number } | { type: 'delete'; pods: Pod[] } | { type: 'none' };

/** Decides how many pods to create, or which ones to delete (ReplicaSetController.manageReplicas). */
export function decideReplicas({ wanted, isDeleting, active, related, nowMs }: ReplicasState): ReplicasAction {
  const missing = wanted - active.length;
  if (isDeleting || missing === 0) return { type: 'none' };
  if (missing > 0) {
    const count = creationsNow(missing, active);
    return count === 0 ? { type: 'none' } : { type: 'create', count };
  }
  return { type: 'delete', pods: podsToDelete(active, Math.min(-missing, MAX_DELETIONS), { related, nowMs }) };
}
