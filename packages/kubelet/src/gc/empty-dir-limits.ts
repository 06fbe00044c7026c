import { errorMessage, type Logger } from '@podwright/base';
import { quantityValue } from '../api/quantity.ts';
import { namespacedName, type Pod, type Volume } from '../api/types.ts';
import { type EventRecorder, eventSubject } from '../events/event-recorder.ts';
import type { WaitingReason } from '../kubecontainer/sync-result.ts';
import { treeBytes } from '../stats/file-system-use.ts';
import type { PodVolumes } from '../volumes/pod-volumes.ts';

export type EmptyDirLimits = {
  volumes: Pick<PodVolumes, 'pathsOf'>;
  events: EventRecorder;
  logger: Logger;
  /** Ends a pod as failed. */
  evict: (pod: Pod, verdict: WaitingReason) => void;
};

/**
 * Evicts pods of which an emptyDir on disk holds more than its `sizeLimit`, as the kubelet's local storage eviction does.
 * One in memory is bounded by its tmpfs.
 */
export async function enforceEmptyDirLimits(deps: EmptyDirLimits, pods: Pod[]): Promise<void> {
  for (const pod of pods) {
    const message = await overLimit(deps, pod).catch((error: unknown) => {
      deps.logger.debug({ pod: namespacedName(pod), error: errorMessage(error) }, 'an emptyDir could not be measured');
      return undefined;
    });
    if (message === undefined) continue;
    deps.events.event(eventSubject(pod), 'Warning', 'Evicted', message);
    deps.evict(pod, { reason: 'Evicted', message });
  }
}

/** Why the pod must go, if it must. */
async function overLimit({ volumes }: EmptyDirLimits, pod: Pod): Promise<string | undefined> {
  for (const volume of pod.spec.volumes ?? []) {
    const limit = diskLimit(volume);
    const path = volumes.pathsOf(pod.metadata.uid).get(volume.name);
    if (limit === undefined || path === undefined) continue;
    if (BigInt(await treeBytes(path)) > quantityValue(limit))
      return `Usage of EmptyDir volume "${volume.name}" exceeds the limit "${limit}". `;
  }
  return undefined;
}

/** Zero means no limit, as for the API. */
function diskLimit({ emptyDir }: Volume): string | undefined {
  const { medium, sizeLimit } = emptyDir ?? {};
  return medium === 'Memory' || sizeLimit === undefined || quantityValue(sizeLimit) <= 0n ? undefined : sizeLimit;
}
