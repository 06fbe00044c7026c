/** Decides the sizes of a Deployment's ReplicaSets. Pure. */
import type { Deployment } from '../objects/deployment.ts';
import type { ReplicaSet } from '../objects/replica-set.ts';
import { isRolling, maxSurge, maxUnavailable, sizeOf, totalOf, totalSize, wantedReplicas } from './replica-counts.ts';
import { hasSizes, recordedMost, recordedWanted } from './replica-set-annotations.ts';
import { byCreation } from './template-identity.ts';

/** A new size for a ReplicaSet. Several sizes for the same ReplicaSet are applied in order. */
export type Scaling = { replicaSet: ReplicaSet; from: number; to: number };

/** A Deployment with its ReplicaSets: the one with its template, if it exists, and the others, oldest first. */
export type Sets = { deployment: Deployment; newSet?: ReplicaSet; oldSets: readonly ReplicaSet[] };

/** Returns the size of the new ReplicaSet: as large as the surge allows (deploymentutil.NewRSNewReplicas). */
export function newSetSize({ deployment, newSet, oldSets }: Sets): number {
  const wanted = wantedReplicas(deployment);
  if (!isRolling(deployment)) return wanted;
  const size = newSet === undefined ? 0 : sizeOf(newSet);
  const free = wanted + maxSurge(deployment) - totalSize(oldSets) - size;
  return free <= 0 ? size : size + Math.min(free, wanted - size);
}

/** One step of a rolling update: scales up the new ReplicaSet or, if that is not possible, scales down old ones. */
export function rollingScalings(sets: Sets & { newSet: ReplicaSet }): Scaling[] {
  const { deployment, newSet } = sets;
  const wanted = wantedReplicas(deployment);
  const grown = scalingsTo(newSet, sizeOf(newSet) > wanted ? wanted : newSetSize(sets));
  return grown.length > 0 ? grown : oldScalings(sets);
}

/** One step of the Recreate strategy: scales the old ReplicaSets down to zero. */
export function recreateScalings({ oldSets }: Sets): Scaling[] {
  return oldSets.flatMap((one) => scalingsTo(one, 0));
}

export function scalingsTo(replicaSet: ReplicaSet, to: number, from = sizeOf(replicaSet)): Scaling[] {
  return from === to ? [] : [{ replicaSet, from, to }];
}

/**
 * Scales down old ReplicaSets, first by the number of their unavailable pods, then as far as enough pods remain available. Unavailable pods
 * of the new ReplicaSet do not cause old ones to be scaled down (reconcileOldReplicaSets, pkg/controller/deployment/rolling.go).
 */
function oldScalings({ deployment, newSet, oldSets }: Sets & { newSet: ReplicaSet }): Scaling[] {
  const active = oldSets.filter((one) => sizeOf(one) > 0).toSorted(byCreation);
  if (active.length === 0) return [];
  const least = wantedReplicas(deployment) - maxUnavailable(deployment);
  const newUnavailable = sizeOf(newSet) - availableOf(newSet);
  const most = totalSize([...active, newSet]) - least - newUnavailable;
  if (most <= 0) return [];
  const unhealthy = shrink(active, most, {
    byAtMost: (one) => sizeOf(one) - availableOf(one),
    sizeNow: sizeOf,
  });
  const sizes = new Map(unhealthy.map(({ replicaSet, to }) => [replicaSet, to]));
  const sizeNow = (one: ReplicaSet) => sizes.get(one) ?? sizeOf(one);
  const available = [...active, newSet].reduce((sum, one) => sum + availableOf(one), 0);
  const surplus = available - least;
  return [...unhealthy, ...shrink(active, surplus, { byAtMost: sizeNow, sizeNow })];
}

/**
 * Returns how many available pods the ReplicaSet will have: its status might still count pods that a scale-down is about to delete.
 * Upstream counts these as available and can therefore delete more pods than `maxUnavailable` allows.
 */
function availableOf(replicaSet: ReplicaSet): number {
  return Math.min(sizeOf(replicaSet), totalOf([replicaSet], 'availableReplicas'));
}

/** Shrinks ReplicaSets in turn, each by at most `byAtMost`, until the sum of the reductions is `most`. */
function shrink(
  replicaSets: readonly ReplicaSet[],
  most: number,
  { byAtMost, sizeNow }: { byAtMost: (one: ReplicaSet) => number; sizeNow: (one: ReplicaSet) => number },
): Scaling[] {
  let left = most;
  return replicaSets.flatMap((replicaSet) => {
    const from = sizeNow(replicaSet);
    const by = Math.max(0, Math.min(left, from, byAtMost(replicaSet)));
    left -= by;
    return scalingsTo(replicaSet, from - by, from);
  });
}

/**
 * Returns the sizes after the desired number has changed, or while the rollout is paused: the only active ReplicaSet gets all replicas, or
 * they are distributed in proportion to the current sizes (DeploymentController.scale).
 */
export function proportionalScalings(sets: Sets): Scaling[] {
  const { deployment, newSet, oldSets } = sets;
  const all = newSet === undefined ? oldSets : [...oldSets, newSet];
  const active = all.filter((one) => sizeOf(one) > 0);
  const wanted = wantedReplicas(deployment);
  if (active.length <= 1) {
    const only = active[0] ?? newSet ?? oldSets.at(-1);
    return only === undefined ? [] : recordedScalings(deployment, only, wanted);
  }
  if (newSet !== undefined && isSaturated(deployment, newSet)) return recreateScalings(sets);
  return isRolling(deployment) ? distributed(deployment, active) : [];
}

/** Whether the ReplicaSet has all desired pods, and all of them are available. */
function isSaturated(deployment: Deployment, newSet: ReplicaSet): boolean {
  const wanted = wantedReplicas(deployment);
  return (
    recordedWanted(newSet) === wanted && sizeOf(newSet) === wanted && totalOf([newSet], 'availableReplicas') === wanted
  );
}

/**
 * Distributes the difference between the maximum allowed size and the total size among the active ReplicaSets. The rounding remainder goes
 * to the largest one.
 */
function distributed(deployment: Deployment, active: readonly ReplicaSet[]): Scaling[] {
  const wanted = wantedReplicas(deployment);
  const allowed = wanted > 0 ? wanted + maxSurge(deployment) : 0;
  const toAdd = allowed - totalSize(active);
  // of ReplicaSets of equal size, the newest grows first and the oldest shrinks first
  const sorted = active.toSorted((a, b) => sizeOf(b) - sizeOf(a) || (toAdd > 0 ? byCreation(b, a) : byCreation(a, b)));
  let added = 0;
  const sizes = sorted.map((one) => {
    const proportion = proportionOf(deployment, one, { toAdd, left: toAdd - added });
    added += proportion;
    return sizeOf(one) + proportion;
  });
  return sorted.flatMap((one, index) => {
    const size = sizes[index]! + (index === 0 ? toAdd - added : 0);
    return recordedScalings(deployment, one, Math.max(0, size));
  });
}

/** Like `scalingsTo`, but also updates a ReplicaSet of unchanged size if the sizes in its annotations are outdated. */
function recordedScalings(deployment: Deployment, replicaSet: ReplicaSet, to: number): Scaling[] {
  const from = sizeOf(replicaSet);
  return from === to && hasSizes(deployment, replicaSet) ? [] : [{ replicaSet, from, to }];
}

function proportionOf(
  deployment: Deployment,
  replicaSet: ReplicaSet,
  { toAdd, left }: { toAdd: number; left: number },
): number {
  if (toAdd === 0 || left === 0) return 0;
  const fraction = fractionOf(deployment, replicaSet);
  return toAdd > 0 ? Math.min(fraction, left) : Math.max(fraction, left);
}

/** Returns by how much to scale the ReplicaSet, so that it retains its share of the maximum size, which is recorded in its annotation. */
function fractionOf(deployment: Deployment, replicaSet: ReplicaSet): number {
  const wanted = wantedReplicas(deployment);
  const size = sizeOf(replicaSet);
  if (wanted === 0) return -size;
  const before = recordedMost(replicaSet) || (deployment.status?.replicas ?? 0);
  return before === 0 ? 0 : Math.round((size * (wanted + maxSurge(deployment))) / before) - size;
}
