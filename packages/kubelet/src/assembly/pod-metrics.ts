import { background, follow, type Undo } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';
import type { KubeletMetrics } from '../metrics/kubelet-metrics.ts';
import { countPods } from '../metrics/pod-counts.ts';
import type { KubeletOptions } from '../options.ts';
import type { StatusManager } from '../status/status-manager.ts';
import type { KnownHost } from './known-host.ts';
import type { PodSync } from './pod-sync.ts';

type PodMetricsInput = { options: KubeletOptions; known: Pick<KnownHost, 'hierarchy'>; sync: PodSync };

/** Starts counting pods and updating their status metrics. A no-op if no metrics registry is configured. */
export function startPodMetrics({ options, known, sync }: PodMetricsInput, undo: Undo): void {
  const { nodeName, logger } = options;
  const { cache, manager, workers, statuses, metrics } = sync;
  if (options.metrics === undefined || metrics === undefined) return;
  countPods(options.metrics, {
    nodeName,
    cgroupVersion: known.hierarchy?.mode === 'v2' ? 2 : 1,
    hasMirrors: options.cluster !== undefined,
    runtimePods: () => cache.list(),
    desiredPods: () => manager.list(),
    activePods: () => workers.activePods(),
    workedPods: () => workers.list(),
    shownPods: () => statuses.pods(),
  });
  const controller = new AbortController();
  undo.add('stop updating the metrics of pods', () => controller.abort());
  const following = followStatuses(metrics, statuses, controller.signal);
  background(logger, 'the metrics of pods are not updated', following);
}

/** Passes each status change to the metrics. If the subscription overflows, passes all statuses again. */
async function followStatuses(metrics: KubeletMetrics, statuses: StatusManager, signal: AbortSignal): Promise<void> {
  const counted = new Set<string>();
  const changed = (pod: Pod) => {
    metrics.statusPublished(pod.metadata.uid, pod);
    counted.add(pod.metadata.uid);
  };
  const deleted = (uid: string) => {
    metrics.statusPublished(uid, undefined);
    counted.delete(uid);
  };
  const onOverflow = () => {
    for (const uid of counted) if (statuses.pod(uid) === undefined) deleted(uid);
    for (const pod of statuses.pods()) changed(pod);
  };
  await follow(
    {
      subscribe: (ends) => statuses.subscribe(ends),
      onValue: ({ type, pod }) => (type === 'DELETED' ? deleted(pod.metadata.uid) : changed(pod)),
      onOverflow,
    },
    signal,
  );
}
