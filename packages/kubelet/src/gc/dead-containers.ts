import type { RuntimeContainer, RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';

export type GarbagePolicy = {
  /** Dead containers kept of each container of a pod. */
  maxPerContainer: number;
  /** Dead containers kept in all, -1 for any number. */
  maxContainers: number;
  /** Those that were made more recently stay. */
  minAgeMs: number;
};

/** What may be removed, oldest first. */
export type Garbage = { containers: RuntimeContainer[]; sandboxIds: string[] };

/**
 * Chooses dead containers over the limits, and sandboxes that are neither ready, nor the newest of their pod, nor needed
 * by a container that stays. The newest container of a name always stays: its end is part of the pod's status. Pure.
 */
export function findGarbage(pods: RuntimePodStatus[], policy: GarbagePolicy, nowMs: number = Date.now()): Garbage {
  const kept: RuntimeContainer[] = [];
  const garbage: RuntimeContainer[] = [];
  for (const pod of pods) {
    for (const group of groupsByName(pod)) {
      const old = group.slice(1).filter((one) => isDead(one) && nowMs - one.createdAtMs >= policy.minAgeMs);
      kept.push(...old.slice(0, policy.maxPerContainer));
      garbage.push(...old.slice(policy.maxPerContainer));
    }
  }
  const excess = policy.maxContainers < 0 ? 0 : Math.max(0, kept.length - policy.maxContainers);
  garbage.push(...kept.toSorted(oldestFirst).slice(0, excess));
  return { containers: garbage.toSorted(oldestFirst), sandboxIds: deadSandboxes(pods, new Set(garbage)) };
}

/** All dead containers of pods of which nothing will run any more, and their sandboxes. Pure. */
export function garbageOfEnded(pods: RuntimePodStatus[], { minAgeMs }: GarbagePolicy, nowMs = Date.now()): Garbage {
  const isOld = ({ createdAtMs }: RuntimeContainer) => nowMs - createdAtMs >= minAgeMs;
  const containers = pods.flatMap((pod) => pod.containers.filter((one) => isDead(one) && isOld(one)));
  const removed = new Set(containers);
  const sandboxIds = pods.flatMap((pod) => {
    const needed = new Set(pod.containers.filter((one) => !removed.has(one)).map(({ sandboxId }) => sandboxId));
    return pod.sandboxes.filter(({ id, ready }) => !ready && !needed.has(id)).map(({ id }) => id);
  });
  return { containers: containers.toSorted(oldestFirst), sandboxIds };
}

/**
 * The ended containers of a pod beyond those that are kept of each name, at least the newest, whose end is part of the status. Pure.
 * Upstream removes them when one ends, whatever their age (pod_container_deletor.go).
 */
export function outdatedContainers(
  pod: RuntimePodStatus,
  { maxPerContainer }: Pick<GarbagePolicy, 'maxPerContainer'>,
): RuntimeContainer[] {
  return groupsByName(pod).flatMap((group) =>
    group.filter(({ state }) => state === 'exited').slice(Math.max(1, maxPerContainer)),
  );
}

/** Containers of each name, newest first as the status has them. */
function groupsByName({ containers }: RuntimePodStatus): RuntimeContainer[][] {
  return [...Map.groupBy(containers, ({ name }) => name).values()];
}

/** One of which the runtime cannot tell has been replaced, and is stopped before it is removed. */
function isDead({ state }: RuntimeContainer): boolean {
  return state !== 'running';
}

function oldestFirst(a: RuntimeContainer, b: RuntimeContainer): number {
  return a.createdAtMs - b.createdAtMs;
}

function deadSandboxes(pods: RuntimePodStatus[], garbage: Set<RuntimeContainer>): string[] {
  return pods.flatMap(({ sandboxes, containers }) => {
    const needed = new Set(containers.filter((one) => !garbage.has(one)).map(({ sandboxId }) => sandboxId));
    return sandboxes
      .slice(1)
      .filter(({ id, ready }) => !ready && !needed.has(id))
      .map(({ id }) => id);
  });
}
