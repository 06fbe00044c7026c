import type { CriClient } from '@podwright/cri';
import type { PodEvents } from '@podwright/kube-api';
import type { PodCgroups } from '../cgroups/pod-cgroups.ts';
import type { EvictionManager } from '../eviction/eviction-manager.ts';
import { type HousekeepingInput, runHousekeeping } from '../gc/housekeeping.ts';
import type { ImageGarbageCollector } from '../gc/image-gc.ts';
import type { RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import type { KubeletOptions } from '../options.ts';
import type { PodSync } from './pod-sync.ts';

export type NodeHousekeepingInput = {
  options: KubeletOptions;
  cri: CriClient;
  events: PodEvents;
  cgroups: PodCgroups;
  sync: PodSync;
  images: ImageGarbageCollector;
  eviction: EvictionManager;
  /**
   * Removes pods that are not in any pod source. A no-op until every source has been read, because a pod might be in a source that has not
   * been read yet.
   */
  removeOrphans: () => Promise<void>;
};

/** Runs garbage collection, log rotation and eviction until the signal aborts. */
export async function keepHouse(input: NodeHousekeepingInput, signal: AbortSignal): Promise<void> {
  await Promise.all([runHousekeeping(housekeepingInput(input), signal), input.eviction.run(signal)]);
}

function housekeepingInput(input: NodeHousekeepingInput): HousekeepingInput {
  const { options, cri, events, cgroups, sync, images } = input;
  const { cache, crashBackoff, changes } = sync;
  const { logger, containerGc, containerLog, containerLogsDir, podLogsDir, nodeName, orphanPeriodMs } = options;
  return {
    ...{ cri, logger, images, events, nodeName, orphanPeriodMs },
    policies: { containers: containerGc, logs: containerLog },
    logLinks: { directory: containerLogsDir, podLogsDir },
    runtimePods: () => cache.list(),
    onPodChange: (listener: (pod: RuntimePodStatus) => void) =>
      changes.subscribe((uid) => {
        const seen = cache.get(uid);
        if (seen !== undefined) listener(seen.status);
      }),
    cleanUpPods: async () => {
      crashBackoff.collectGarbage();
      await input.removeOrphans();
    },
    refreshCgroups: () => cgroups.refresh(),
  };
}
