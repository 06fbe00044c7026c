/** The parts that turn desired pods into running ones, connected with each other. */
import { totalmem } from 'node:os';
import { Backoff } from '@podwright/base';
import type { CriClient } from '@podwright/cri';
import type { EventRecorder, Pod } from './api/types.ts';
import { hostResolvConf, standardLabels } from './host.ts';
import { ImageManager } from './images/image-manager.ts';
import type { KuberuntimeDependencies } from './kuberuntime/dependencies.ts';
import { kubeletIdOf } from './kuberuntime/labels.ts';
import { RuntimePodReader } from './kuberuntime/pod-status.ts';
import { SandboxNetworks } from './kuberuntime/sandbox-networks.ts';
import type { KubeletOptions } from './options.ts';
import { Pleg } from './pleg/pleg.ts';
import { PodStatusCache } from './pleg/pod-status-cache.ts';
import type { PodCgroups } from './pod/contract.ts';
import { refusePod } from './pod/pod-admission.ts';
import { PodManager } from './pod/pod-manager.ts';
import { PodSyncer } from './pod/pod-syncer.ts';
import { PodTracer } from './pod/pod-tracer.ts';
import { PodWorkers } from './pod/pod-workers.ts';
import { WaitingReasons } from './pod/waiting-reasons.ts';
import type { KubeletRooms } from './rooms.ts';
import { StatusManager } from './status/status-manager.ts';
import { SyncLoop } from './sync-loop.ts';

/** Delays after steps that failed for a reason that nobody announces the end of. */
const errorBackoff = { initialMs: 500, maxMs: 10_000 };

export type PodEngineInput = {
  options: KubeletOptions;
  cri: CriClient;
  events: EventRecorder;
  rooms: KubeletRooms;
  cgroups: PodCgroups;
  cgroupV2: boolean;
  hostIps: () => string[];
  /** Scheme of container ids. */
  runtimeName: string;
};

export type PodEngine = {
  manager: PodManager;
  statuses: StatusManager;
  cache: PodStatusCache;
  tracer: PodTracer;
  pleg: Pleg;
  workers: PodWorkers;
  loop: SyncLoop;
};

/** Nothing runs until the PLEG is started and the loop is told of pods. */
export function createPodEngine(input: PodEngineInput): PodEngine {
  const { options, rooms, cgroups } = input;
  const { logger } = options;
  const statuses = new StatusManager();
  const cache = new PodStatusCache();
  const manager = new PodManager();
  const tracer = new PodTracer();
  const networks = new SandboxNetworks(input.cri);
  const pleg = new Pleg({
    cri: input.cri,
    reader: new RuntimePodReader({
      cri: input.cri,
      networks,
      kubeletId: kubeletIdOf(options.rootDir),
      runtimeName: input.runtimeName,
      readEnd: rooms.readEnd,
    }),
    cache,
    logger,
    relistPeriodMs: options.relist.periodMs,
    eventedRelistPeriodMs: options.relist.eventedPeriodMs,
    onChange: (podUid) => loop.handleLifecycle(podUid),
  });
  const syncer = new PodSyncer({
    runtime: runtimeDependencies(input, { tracer, networks }),
    pleg,
    statuses,
    reasons: new WaitingReasons(),
    volumes: rooms.volumes,
    probes: rooms.probes,
    cgroups,
    logger,
    refuse: (pod) => refuse(pod, workers.activePods(), options),
  });
  const workers = new PodWorkers({ steps: syncer, logger, resyncPeriodMs: options.resyncPeriodMs, errorBackoff });
  const onSeen = (pod: Pod) => tracer.mark(pod.metadata.uid, 'pod seen');
  const loop = new SyncLoop({ manager, workers, runtimePods: () => cache.list(), onSeen, logger });
  return { manager, statuses, cache, tracer, pleg, workers, loop };
}

function refuse(pod: Pod, active: Pod[], options: KubeletOptions) {
  const others = active.filter(({ metadata }) => metadata.uid !== pod.metadata.uid);
  const labels = { ...standardLabels(options.nodeName), ...options.nodeLabels };
  return refusePod(pod, others, { ...options, labels });
}

function runtimeDependencies(
  input: PodEngineInput,
  own: { tracer: PodTracer; networks: SandboxNetworks },
): KuberuntimeDependencies {
  const { options, cri, events, rooms, cgroups, hostIps } = input;
  return {
    ...own,
    cri,
    events,
    logger: options.logger,
    hooks: rooms.hooks,
    objects: rooms.objects,
    prepare: rooms.prepare,
    crashBackoff: new Backoff(options.crashLoopBackoff),
    images: imageManager(input),
    dns: async () => ({ ...options, host: await hostResolvConf(options.resolvConf) }),
    cgroupParent: (pod) => cgroups.parentFor(pod),
    hostIps,
    podLogsDir: options.podLogsDir,
    kubeletId: kubeletIdOf(options.rootDir),
    clusterDomain: options.clusterDomain,
    node: { memoryCapacity: BigInt(totalmem()), cgroupV2: input.cgroupV2 },
    seccompDefault: options.seccompDefault,
    seccompRoot: `${options.rootDir}/seccomp`,
  };
}

function imageManager({ options, cri, events, rooms }: PodEngineInput): ImageManager {
  const { images, logger } = options;
  const queue = {
    maxParallel: images.serializePulls ? 1 : images.maxParallelPulls,
    qps: images.registryPullQps,
    burst: images.registryBurst,
  };
  const { pullBackoff, dockerConfigPaths } = images;
  return new ImageManager({
    cri,
    events,
    objects: rooms.objects,
    logger,
    queue,
    backoff: pullBackoff,
    dockerConfigPaths,
  });
}
