/** Replica counts of a Deployment (pkg/controller/deployment/util/deployment_util.go). */
import type { Deployment } from '../objects/deployment.ts';
import type { ReplicaSet, ReplicaSetStatus } from '../objects/replica-set.ts';
import { scaledValue } from '../pods/scaled-value.ts';

/** Go's math.MaxInt32, which means "no limit" in Deployment specs. */
const UNLIMITED = 2 ** 31 - 1;

export function wantedReplicas({ spec }: Pick<Deployment, 'spec'>): number {
  return spec.replicas ?? 1;
}

export function sizeOf({ spec }: Pick<ReplicaSet, 'spec'>): number {
  return spec.replicas ?? 1;
}

/** Returns the sum of the ReplicaSets' desired sizes (`spec.replicas`). */
export function totalSize(replicaSets: readonly ReplicaSet[]): number {
  return replicaSets.reduce((sum, one) => sum + sizeOf(one), 0);
}

type Count = 'replicas' | 'readyReplicas' | 'availableReplicas' | 'terminatingReplicas';

/** Returns the sum of a count over the statuses of the ReplicaSets. */
export function totalOf(replicaSets: readonly { status?: ReplicaSetStatus }[], count: Count): number {
  return replicaSets.reduce((sum, { status }) => sum + (status?.[count] ?? 0), 0);
}

export function isRolling({ spec }: Pick<Deployment, 'spec'>): boolean {
  return (spec.strategy?.type ?? 'RollingUpdate') === 'RollingUpdate';
}

/** Returns how many pods a rollout may have in excess of the desired number. */
export function maxSurge(deployment: Pick<Deployment, 'spec'>): number {
  return isRolling(deployment) ? bounds(deployment).surge : 0;
}

/** Returns how many of the desired pods may be unavailable during a rollout. */
export function maxUnavailable(deployment: Pick<Deployment, 'spec'>): number {
  const wanted = wantedReplicas(deployment);
  return isRolling(deployment) ? Math.min(wanted, bounds(deployment).unavailable) : 0;
}

/**
 * Resolves `maxSurge` (rounded up) and `maxUnavailable` (rounded down) to numbers of pods. If both are 0, one pod may be unavailable;
 * otherwise a rollout could never progress.
 */
function bounds(deployment: Pick<Deployment, 'spec'>): { surge: number; unavailable: number } {
  const { maxSurge: most = 0, maxUnavailable: least = 0 } = deployment.spec.strategy?.rollingUpdate ?? {};
  const wanted = wantedReplicas(deployment);
  const surge = scaledValue(most, wanted, Math.ceil);
  const unavailable = scaledValue(least, wanted, Math.floor);
  return { surge, unavailable: surge === 0 && unavailable === 0 ? 1 : unavailable };
}

/** Returns the time without progress after which a rollout has failed, in seconds, if it is limited. */
export function progressDeadline({ spec }: Pick<Deployment, 'spec'>): number | undefined {
  return spec.progressDeadlineSeconds === UNLIMITED ? undefined : spec.progressDeadlineSeconds;
}

/** Returns how many old ReplicaSets to retain; undefined if all of them. */
export function historyLimit({ spec }: Pick<Deployment, 'spec'>): number | undefined {
  return spec.revisionHistoryLimit === UNLIMITED ? undefined : spec.revisionHistoryLimit;
}
