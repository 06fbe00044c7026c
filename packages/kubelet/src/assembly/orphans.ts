/** Terminates orphaned pods, which are no longer in any pod source, and removes what they left behind. */
import type { Logger } from '@podwright/base';
import type { PodVolumes } from '@podwright/volumes';
import type { PodCgroups } from '../cgroups/pod-cgroups.ts';
import { removeLogsOf } from '../gc/orphan-logs.ts';
import type { PodSync } from './pod-sync.ts';

export type OrphanInput = {
  sync: Pick<
    PodSync,
    'manager' | 'workers' | 'cache' | 'pleg' | 'statuses' | 'loop' | 'ephemeral' | 'keepResourcesOf'
  > &
    Partial<Pick<PodSync, 'metrics'>>;
  volumes: Pick<PodVolumes, 'removeOrphans'>;
  cgroups: Pick<PodCgroups, 'removeOrphans'>;
  grants: { keepOnly: (isKnown: (podUid: string) => boolean) => Promise<void> };
  podLogsDir: string;
  logger: Logger;
};

/**
 * Terminates pods that are not in any pod source, and removes what they left behind. Must not be called before every source has been read.
 * The content of invalid manifest files (`wrong`) is unknown, so pods created from those files keep running.
 */
export async function removeOrphans(input: OrphanInput, wrong: ReadonlySet<string>): Promise<void> {
  input.sync.loop.endOrphans(wrong);
  input.sync.ephemeral.keepOnly((uid) => isKnownPod(input.sync, uid));
  input.sync.keepResourcesOf((uid) => isKnownPod(input.sync, uid));
  try {
    await removeLeftFiles(input);
  } finally {
    await removeLeftCgroups(input);
    await input.grants.keepOnly((uid) => isKnownPod(input.sync, uid));
  }
}

/** Removes the volumes, logs and statuses of pods that no longer exist. */
async function removeLeftFiles({ sync, volumes, podLogsDir, logger }: OrphanInput): Promise<void> {
  const isKnown = (uid: string) => isKnownPod(sync, uid);
  const withVolumes = await volumes.removeOrphans(isKnown).catch((error: unknown) => {
    sync.metrics?.swept({ pods: 1, failures: 1 }); // the number is unknown, but at least one
    throw error;
  });
  sync.metrics?.swept({ pods: withVolumes.length, failures: 0 });
  const withStatus = sync.statuses.orphans(isKnown);
  await removeLogsOf(podLogsDir, [...withVolumes, ...withStatus], logger);
  for (const uid of withStatus) sync.statuses.delete(uid);
}

/** Kills the processes in the cgroups of pods that no longer exist, and removes those cgroups. */
async function removeLeftCgroups({ sync, cgroups }: OrphanInput): Promise<void> {
  const { manager, workers, cache, pleg } = sync;
  const wanted = [...manager.list(), ...workers.activePods()].map(({ metadata }) => metadata.uid);
  const running = [...cache.list().map(({ pod }) => pod), ...pleg.listedPods()].map(({ uid }) => uid);
  await cgroups.removeOrphans(new Set([...wanted, ...running]));
}

/**
 * Whether the pod's volumes might be in use. Also true for a terminating pod, and for a pod that the container runtime lists but whose
 * status cannot be read.
 */
function isKnownPod({ manager, workers, cache, pleg }: OrphanInput['sync'], uid: string): boolean {
  return manager.has(uid) || workers.has(uid) || cache.get(uid) !== undefined || pleg.lists(uid);
}
