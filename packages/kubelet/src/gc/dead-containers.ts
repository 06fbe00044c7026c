import type { RuntimeContainer, RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';

export type GarbagePolicy = {
  /** Number of dead containers to retain for each container of a pod (`--maximum-dead-containers-per-container`). */
  maxPerContainer: number;
  /** Total number of dead containers to retain; -1 for no limit (`--maximum-dead-containers`). */
  maxContainers: number;
  /** Minimum age of a container before it may be removed (`--minimum-container-ttl-duration`). */
  minAgeMs: number;
};

/** Containers and sandboxes to remove, oldest first. */
export type Garbage = { containers: RuntimeContainer[]; sandboxIds: string[] };

/**
 * Selects dead containers that exceed the limits, and sandboxes that are not ready, are not their pod's newest, and have no remaining
 * containers. The newest container of each name is never selected, because its exit is part of the pod status. Pure.
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

/** Selects the dead containers of finished pods and their sandboxes. Pure. */
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
 * Selects the pod's exited containers that exceed the limit per name, except for the newest of each name, whose exit is part of the pod
 * status. Upstream removes them when a container exits, regardless of their age (pod_container_deletor.go). Pure.
 */
export function outdatedContainers(
  pod: RuntimePodStatus,
  { maxPerContainer }: Pick<GarbagePolicy, 'maxPerContainer'>,
): RuntimeContainer[] {
  return groupsByName(pod).flatMap((group) =>
    group.filter(({ state }) => state === 'exited').slice(Math.max(1, maxPerContainer)),
  );
}

/** Each group is sorted newest first, like the containers in the pod's status. */
function groupsByName({ containers }: RuntimePodStatus): RuntimeContainer[][] {
  return [...Map.groupBy(containers, ({ name }) => name).values()];
}

/**
 * Whether a container is dead. Containers in the unknown state count as dead: they have been replaced, and are stopped before they are
 * removed.
 */
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
