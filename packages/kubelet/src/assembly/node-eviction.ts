/** Assembles the eviction manager, which evicts pods when the node runs low on resources. */
import { PodwrightError, pause } from '@podwright/base';
import type { CriClient } from '@podwright/cri';
import { isTrashBusy } from '@podwright/host';
import { type EventRecorder, nodeSubject, type Pod } from '@podwright/kube-api';
import { type NodePressure, thresholdSettings, thresholdsOf } from '@podwright/kubelet-configuration';
import { type ClaimLimits, DiskDetail, type PodVolumes } from '@podwright/volumes';
import type { PodCgroups } from '../cgroups/pod-cgroups.ts';
import { stopsInTime } from '../events/stops-in-time.ts';
import type { PodEviction } from '../eviction/evict-pod.ts';
import { EvictionManager } from '../eviction/eviction-manager.ts';
import { NodeSignals } from '../eviction/node-signals.ts';
import { isExempt } from '../eviction/pressure-admission.ts';
import type { NodeReclaim } from '../eviction/reclaim-steps.ts';
import { collectUnusedContainers } from '../gc/container-gc.ts';
import { ImageGarbageCollector } from '../gc/image-gc.ts';
import { pressureEvents } from '../node-status/node-conditions.ts';
import { isStandaloneNode, type KubeletOptions } from '../options.ts';
import type { SummaryProvider } from '../stats/summary-provider.ts';
import type { KnownHost } from './known-host.ts';
import type { PodSync } from './pod-sync.ts';

export type NodeEvictionInput = {
  options: KubeletOptions;
  cri: CriClient;
  cgroups: Pick<PodCgroups, 'allPods'>;
  events: EventRecorder;
  known: Pick<KnownHost, 'hierarchy' | 'capacity'>;
  sync: PodSync;
  volumes: Pick<PodVolumes, 'pathsOf'>;
  summary: Pick<SummaryProvider, 'podStats' | 'frozenPodStats' | 'heldInEmptyDirs'>;
  images: ImageGarbageCollector;
  pressure: NodePressure;
  claimLimits: ClaimLimits;
};

/**
 * Creates the eviction manager, which is idle until `run` is called. If there is no API server, it also emits the events for pressure
 * conditions; otherwise the node status reporter does.
 */
export function nodeEviction(input: NodeEvictionInput): EvictionManager {
  const { options, cri, cgroups, known, sync, summary, events, pressure, volumes, claimLimits } = input;
  const { eviction, nodeName, logger, rootDir, enforceNodeAllocatable } = options;
  const isStandalone = isStandaloneNode(options);
  if (options.cluster === undefined)
    pressure.onChange((changed) => {
      for (const { type, reason, message } of pressureEvents(nodeName, changed, pressure))
        events.event(nodeSubject(nodeName), type, reason, message);
    });
  const { memoryBytes } = known.capacity;
  const detail = new DiskDetail({ pressure, limits: claimLimits, logger });
  return new EvictionManager({
    ...{ nodeName, pressure, events, logger, metrics: sync.metrics, claimLimits },
    onJudged: () => detail.refresh(),
    ...{ transitionMs: eviction.transitionMs, maxPodGraceSeconds: eviction.maxPodGraceSeconds },
    thresholds: thresholdsOf(thresholdSettings(eviction, isStandalone), {
      areHeldToAllocatable: enforceNodeAllocatable,
    }),
    periodMs: eviction.periodMs,
    signals: new NodeSignals({ cri, hierarchy: known.hierarchy, memoryBytes, podsCgroup: cgroups.allPods, rootDir }),
    activePods: () => sync.workers.activePods().map((pod) => sync.allocated(pod)),
    podStats: (pods, { disk, fresh }, signal) =>
      summary.podStats(new Set(pods.map(({ metadata }) => metadata.uid)), {
        fresh,
        disk: disk ? { signal } : undefined,
      }),
    frozenPodStats: ({ metadata }, frozen) => summary.frozenPodStats(metadata.uid, frozen),
    volumePaths: (podUid) => volumes.pathsOf(podUid),
    heldInEmptyDirs: (podUids) => summary.heldInEmptyDirs(podUids),
    isExempt: (pod) => isExempt(pod, { isStandalone }),
    reclaim: nodeReclaim(input),
    evict: (pod, how, signal) => evict(input, { pod, how }, signal),
    isDeleting: isTrashBusy,
    isCleanedUp: ({ metadata }) => ['terminated', undefined].includes(sync.workers.phaseOf(metadata.uid)),
  });
}

export function imageGarbageCollector(
  { options, cri, events }: Pick<NodeEvictionInput, 'options' | 'cri' | 'events'>,
  { imageAccess, workers }: Pick<PodSync, 'imageAccess' | 'workers'>,
): ImageGarbageCollector {
  const { imageGc: policy, logger, metrics, nodeName } = options;
  return new ImageGarbageCollector({
    ...{ cri, policy, logger, metrics },
    pods: () => workers.unendedPods(),
    warn: (reason, message) => events.event(nodeSubject(nodeName), 'Warning', reason, message),
    forgetImages: (ids, atMs) => imageAccess.prune(ids, atMs),
  });
}

function nodeReclaim({ options, cri, sync, images }: NodeEvictionInput): NodeReclaim {
  const { logger, containerGc: policy } = options;
  const hasEnded = (podUid: string) => sync.workers.phaseOf(podUid) === 'terminated';
  return {
    deleteUnusedContainers: async (signal) => {
      const errors = await collectUnusedContainers({ cri, logger, policy, signal }, sync.cache.list(), hasEnded);
      if (errors.length > 0) throw new PodwrightError('internal', errors.join('; '));
    },
    deleteUnusedImages: () => images.removeUnused(),
  };
}

async function evict(
  { sync, events }: NodeEvictionInput,
  { pod, how }: { pod: Pod; how: PodEviction },
  signal: AbortSignal,
): Promise<void> {
  sync.loop.evict(pod, how);
  const stopped = sync.workers.whenStopped(pod.metadata.uid);
  const { gracePeriodSeconds } = how;
  if (await stopsInTime(pod, { events, stopped, gracePeriodSeconds, signal, sleep: pause })) return;
  throw new PodwrightError('deadline_exceeded', 'timeout waiting to kill pod');
}
