/** The parts that turn desired pods into running ones, connected with each other. */
import { totalmem } from 'node:os';
import type { CriClient } from '@podwright/cri';
import type { Pod } from '../api/types.ts';
import type { PodCgroups } from '../cgroups/pod-cgroups.ts';
import type { EventRecorder } from '../events/event-recorder.ts';
import { ImageManager } from '../images/image-manager.ts';
import { ActuatedResources } from '../kuberuntime/actuated-resources.ts';
import { CrashBackoff } from '../kuberuntime/crash-backoff.ts';
import type { KuberuntimeDependencies } from '../kuberuntime/dependencies.ts';
import { kubeletIdOf } from '../kuberuntime/labels.ts';
import { RuntimePodReader } from '../kuberuntime/runtime-pod-reader.ts';
import { SandboxNetworks } from '../kuberuntime/sandbox-networks.ts';
import { ERROR_BACKOFF } from '../limits.ts';
import { hostResolvConf } from '../node/resolv-conf.ts';
import type { KubeletOptions } from '../options.ts';
import { Pleg } from '../pleg/pleg.ts';
import { PodStatusCache } from '../pleg/pod-status-cache.ts';
import { EphemeralContainers } from '../pod/ephemeral-containers.ts';
import { nodeFacts } from '../pod/node-offer.ts';
import { refusePod } from '../pod/pod-admission.ts';
import { PodAllocations } from '../pod/pod-allocations.ts';
import { PodManager } from '../pod/pod-manager.ts';
import { PodSyncer } from '../pod/pod-syncer.ts';
import { PodWorkers } from '../pod/pod-workers.ts';
import { RestartRequests } from '../pod/restart-requests.ts';
import { SyncLoop } from '../pod/sync-loop.ts';
import { WaitingReasons } from '../pod/waiting-reasons.ts';
import { StatusManager } from '../status/status-manager.ts';
import { PodTracer } from '../trace/pod-tracer.ts';
import { PodDirectories } from '../volumes/pod-directories.ts';
import type { KubeletParts } from './kubelet-parts.ts';

export type PodSyncInput = {
  options: KubeletOptions;
  cri: CriClient;
  events: EventRecorder;
  parts: KubeletParts;
  cgroups: PodCgroups;
  cgroupV2: boolean;
  /** What pods may use together: thousandths of a core, and bytes. */
  allocatable: { cpu: bigint; memory: bigint };
  hostIps: () => string[];
  /** Scheme of container ids. */
  runtimeName: string;
};

export type PodSync = {
  manager: PodManager;
  statuses: StatusManager;
  cache: PodStatusCache;
  tracer: PodTracer;
  pleg: Pleg;
  workers: PodWorkers;
  loop: SyncLoop;
  /** Delays between restarts of containers. */
  crashBackoff: CrashBackoff;
  restarts: RestartRequests;
  ephemeral: EphemeralContainers;
};

/** Nothing runs until the PLEG is started and the loop gets pods. */
export function createPodSync(input: PodSyncInput): PodSync {
  const { options, parts, cgroups } = input;
  const { logger } = options;
  const statuses = new StatusManager();
  const cache = new PodStatusCache();
  const manager = new PodManager();
  const tracer = new PodTracer();
  const networks = new SandboxNetworks(input.cri);
  const restarts = new RestartRequests();
  const ephemeral = new EphemeralContainers(new PodDirectories(options.rootDir));
  const crashBackoff = new CrashBackoff(options.crashLoopBackoff);
  const actuated = new ActuatedResources();
  const pleg = new Pleg({
    cri: input.cri,
    reader: new RuntimePodReader({
      cri: input.cri,
      networks,
      kubeletId: kubeletIdOf(options.rootDir),
      runtimeName: input.runtimeName,
    }),
    cache,
    logger,
    relistPeriodMs: options.relist.periodMs,
    eventedRelistPeriodMs: options.relist.eventedPeriodMs,
    onChange: (podUid) => loop.handleLifecycle(podUid),
  });
  const allocations = new PodAllocations({
    events: input.events,
    actuated,
    node: input.allocatable,
    activePods: () => workers.activePods(),
  });
  const syncer = new PodSyncer({
    runtime: runtimeDependencies(input, { tracer, networks, crashBackoff, actuated }),
    pleg,
    statuses,
    reasons: new WaitingReasons(),
    volumes: parts.volumes,
    probes: parts.probes,
    restarts,
    allocations,
    cgroups,
    logger,
    refuse: (pod) => refuse(pod, workers.activePods(), options),
  });
  const workers = new PodWorkers({
    steps: syncer,
    logger,
    resyncPeriodMs: options.resyncPeriodMs,
    errorBackoff: ERROR_BACKOFF,
  });
  const onSeen = (pod: Pod) => tracer.mark(pod.metadata.uid, 'pod seen');
  const loop = new SyncLoop({ manager, workers, ephemeral, runtimePods: () => cache.list(), onSeen, logger });
  return { manager, statuses, cache, tracer, pleg, workers, loop, crashBackoff, restarts, ephemeral };
}

function refuse(pod: Pod, active: Pod[], options: KubeletOptions) {
  const others = active.filter(({ metadata }) => metadata.uid !== pod.metadata.uid);
  return refusePod(pod, others, nodeFacts(options));
}

function runtimeDependencies(
  input: PodSyncInput,
  own: { tracer: PodTracer; networks: SandboxNetworks; crashBackoff: CrashBackoff; actuated: ActuatedResources },
): KuberuntimeDependencies {
  const { options, cri, events, parts, cgroups, hostIps } = input;
  return {
    ...own,
    cri,
    events,
    logger: options.logger,
    hooks: parts.hooks,
    objects: parts.objects,
    prepare: parts.prepare,
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

function imageManager({ options, cri, events, parts }: PodSyncInput): ImageManager {
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
    objects: parts.objects,
    logger,
    queue,
    backoff: pullBackoff,
    dockerConfigPaths,
  });
}
