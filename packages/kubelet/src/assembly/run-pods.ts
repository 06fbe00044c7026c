/** The last startup step: connects everything that reports pod changes to the sync loop and starts reading pods. */
import { background, type Undo } from '@podwright/base';
import type { PodUpdate } from '@podwright/kube-api';
import type { PodSourceListener, PodSources } from '@podwright/pod-config';
import type { KubeletDependencies } from '../kubelet.ts';
import type { StatusRecords } from '../status/status-records.ts';
import type { RunningCluster } from './cluster.ts';
import { podsEnder } from './end-pods.ts';
import type { KubeletParts } from './kubelet-parts.ts';
import { keepHouse, type NodeHousekeepingInput } from './node-housekeeping.ts';
import { type OrphanInput, removeOrphans } from './orphans.ts';

type RunInput = Omit<NodeHousekeepingInput, 'removeOrphans'> & {
  parts: KubeletParts;
  grants: OrphanInput['grants'];
  records: StatusRecords;
  /** The started cluster parts; `undefined` if there is no API server. */
  runningCluster: RunningCluster | undefined;
};

export type RunningPods = Pick<KubeletDependencies, 'sourcesReady' | 'endPods' | 'manifestErrors' | 'update'>;

/** Starts the pod sources and housekeeping. */
export function runPods(input: RunInput, undo: Undo): RunningPods {
  const { options, parts, sync, cgroups, grants } = input;
  const { podLogsDir, logger } = options;
  const { loop } = sync;
  const { volumes, objects, probes } = parts;
  const subscriptions = [
    objects.onChange((change) => loop.handleObject(change)),
    ...[probes.liveness, probes.readiness, probes.startup].map((result) =>
      result.onChange((update) => loop.handleProbe(update)),
    ),
  ];
  undo.add('stop following probes and the objects of manifests', () => {
    for (const unsubscribe of subscriptions) unsubscribe();
  });
  const sources = startSources(input);
  undo.add('stop the sources of pods', () => sources.stop());
  const endOrphans = () =>
    removeOrphans(
      { sync, volumes, cgroups, grants, podLogsDir, logger },
      new Set(sources.errors().map(({ file }) => file)),
    );
  let areSourcesRead = false;
  const sourcesReady = sources.ready.then(() => {
    areSourcesRead = true;
    return endOrphans();
  });
  background(logger, 'what is left of pods that are gone could not be removed', sourcesReady);
  const controller = new AbortController();
  const removeOrphansOnceRead = async () => {
    if (areSourcesRead) await endOrphans();
  };
  const housekeeping = keepHouse({ ...input, removeOrphans: removeOrphansOnceRead }, controller.signal);
  undo.add('stop the housekeeping', () => {
    controller.abort();
    return housekeeping;
  });
  return {
    sourcesReady,
    endPods: podsEnder(input, sources),
    manifestErrors: () => sources.errors(),
    update: (change: PodUpdate) => loop.handlePods(change),
  };
}

function startSources({ parts, sync, runningCluster }: RunInput): PodSources {
  const { statuses, loop, cache } = sync;
  const listener: PodSourceListener = {
    onUpdate: (update) => {
      if (['UPDATE', 'DELETE'].includes(update.operation)) for (const pod of update.pods) statuses.relabel(pod);
      loop.handlePods(update);
    },
    runningPods: () => cache.list().flatMap(({ sandboxes }) => sandboxes.slice(0, 1).map(({ owner }) => owner)),
  };
  return runningCluster?.startSources(listener, parts.startSources) ?? parts.startSources(listener);
}
