/** Assembles the parts that drive pods to their desired state. */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Limiter, Listeners } from '@podwright/base';
import type { CriClient } from '@podwright/cri';
import { type EventRecorder, type Node, nodeSubject, type Pod } from '@podwright/kube-api';
import type { NodePressure } from '@podwright/kubelet-configuration';
import { type ClaimLimits, PodDirectories } from '@podwright/volumes';
import type { PodCgroups } from '../cgroups/pod-cgroups.ts';
import { UserNamespaces } from '../container/user-namespaces.ts';
import { refuseUnderPressure } from '../eviction/pressure-admission.ts';
import { CredentialProviders } from '../images/credential-providers.ts';
import { ImageAccess } from '../images/image-access.ts';
import { ImageManager } from '../images/image-manager.ts';
import type { WaitingReason } from '../kubecontainer/sync-result.ts';
import { ActuatedResources } from '../kuberuntime/actuated-resources.ts';
import { CrashBackoff } from '../kuberuntime/crash-backoff.ts';
import type { KuberuntimeDependencies } from '../kuberuntime/dependencies.ts';
import type { DnsSettings } from '../kuberuntime/dns-config.ts';
import { kubeletIdOf } from '../kuberuntime/labels.ts';
import { runtimeHandler } from '../kuberuntime/pod-sandbox.ts';
import type { RuntimeFeatures } from '../kuberuntime/runtime-features.ts';
import { RuntimePodReader } from '../kuberuntime/runtime-pod-reader.ts';
import { SandboxNetworks } from '../kuberuntime/sandbox-networks.ts';
import { SandboxTurns, sandboxesAtOnce } from '../kuberuntime/sandbox-turns.ts';
import { KubeletMetrics } from '../metrics/kubelet-metrics.ts';
import type { ContainerHost } from '../node/container-host.ts';
import type { NodeResources } from '../node/node-resources.ts';
import { hostResolvConf, searchProblem } from '../node/resolv-conf.ts';
import { podIdRange } from '../node/subordinate-ids.ts';
import { isStandaloneNode, type KubeletOptions, seccompRoot } from '../options.ts';
import { Pleg } from '../pleg/pleg.ts';
import type { PodStatusCache } from '../pleg/pod-status-cache.ts';
import { PodAdmission } from '../pod/admission.ts';
import { EphemeralContainers } from '../pod/ephemeral-containers.ts';
import type { Obstacles } from '../pod/hold-pod.ts';
import { nodeFacts, nodeFactsFromApi } from '../pod/node-offer.ts';
import type { NodeFacts } from '../pod/pod-admission.ts';
import { PodAllocations, type PodAllocationsOptions } from '../pod/pod-allocations.ts';
import type { PodGrants } from '../pod/pod-grants.ts';
import { PodManager } from '../pod/pod-manager.ts';
import { PodSyncer } from '../pod/pod-syncer.ts';
import { PodWorkers } from '../pod/pod-workers.ts';
import { RestartRequests } from '../pod/restart-requests.ts';
import { type PodObserver, SyncLoop } from '../pod/sync-loop.ts';
import { WaitingReasons } from '../pod/waiting-reasons.ts';
import type { RuntimeAbilities } from '../runtime-state/runtime-state.ts';
import type { ProbeAnswers } from '../status/container-statuses.ts';
import type { StatusManager } from '../status/status-manager.ts';
import type { PodTracer } from '../trace/pod-tracer.ts';
import type { KubeletParts } from './kubelet-parts.ts';
import type { ResourceCheckpoints } from './resource-checkpoints.ts';
import { tracedSteps } from './traced-steps.ts';

/**
 * A container restart that takes longer than this is not waiting for CPU time, so it stops counting towards the limit on concurrent
 * restarts.
 */
const RESTART_PATIENCE_MS = 500;

/** Backoff after a failed sync step. Ends early when an event signals that the cause of the failure is gone. */
const ERROR_BACKOFF = { initialMs: 500, maxMs: 10_000 };

export type PodSyncInput = {
  options: KubeletOptions;
  cri: CriClient;
  events: EventRecorder;
  parts: Omit<KubeletParts, 'claims' | 'nodePlugins'>;
  cgroups: PodCgroups;
  statuses: StatusManager;
  checkpoints: ResourceCheckpoints;
  /** The pods' statuses in the container runtime; empty until the PLEG has started. */
  cache: PodStatusCache;
  /** The resources that all pods together may request. */
  resources: NodeResources;
  grants: PodGrants & { admissible: () => Record<string, bigint> };
  host: ContainerHost;
  features: RuntimeFeatures;
  /** Whether the container runtime supports `supplementalGroupsPolicy: Strict`. */
  strictGroups: boolean;
  /**
   * `noteListing` is called with `false` when listing the pods in the container runtime starts to fail, and with `true` when it works
   * again.
   */
  obstacles: Obstacles & { noteListing: (works: boolean) => void; abilities: () => RuntimeAbilities | undefined };
  /** Refuses new pods while the host is shutting down. */
  shutdown: { refusal: () => WaitingReason | undefined };
  /** Host addresses for pod statuses; in a cluster, the Node object's addresses. */
  hostIps: () => string[];
  /** The host's addresses, primary first. */
  addresses: string[];
  pressure: NodePressure;
  claimLimits?: Pick<ClaimLimits, 'refusalOf'>;
  /** The scheme in the container IDs of pod statuses, such as `containerd`. */
  runtimeName: string;
  tracer: PodTracer;
};

export type PodSync = {
  manager: PodManager;
  statuses: StatusManager;
  cache: PodStatusCache;
  tracer: PodTracer;
  /** The kubelet's metrics; `undefined` if `KubeletOptions.metrics` is unset. */
  metrics: KubeletMetrics | undefined;
  pleg: Pleg;
  workers: PodWorkers;
  loop: SyncLoop;
  crashBackoff: CrashBackoff;
  restarts: RestartRequests;
  /**
   * Returns the resources and features that the node currently offers to pods, based on the given Node object or, by default, the cached
   * one.
   */
  offer: (node?: Node) => NodeFacts;
  /** Returns the pod with the resources currently allocated to it. */
  allocated: (pod: Pod) => Pod;
  ephemeral: EphemeralContainers;
  /** Removes the resource checkpoints of pods for which `isKnown` returns false. */
  keepResourcesOf: (isKnown: (podUid: string) => boolean) => void;
  imageAccess: ImageAccess;
  /** Fires with a pod's UID when the pod changes in the container runtime. */
  changes: Listeners<[podUid: string]>;
  /** Fires with a pod's UID when all of its containers have stopped, and again once its resources have been released. */
  stopped: Listeners<[podUid: string]>;
};

/**
 * Creates the parts that sync pods. They are idle until the PLEG has started and the sync loop receives pods, so they may refer to parts
 * created later.
 */
export function createPodSync(input: PodSyncInput): PodSync {
  const { options, parts, cgroups, statuses, cache, events, tracer } = input;
  const { logger } = options;
  const manager = new PodManager();
  const metrics = options.metrics && new KubeletMetrics(options.metrics, (uid) => manager.get(uid)?.pod);
  tracer.observe((uid, span) => metrics?.step(uid, span));
  const networks = new SandboxNetworks(input.cri, input.addresses);
  const restarts = new RestartRequests();
  const ephemeral = new EphemeralContainers(new PodDirectories(options.rootDir));
  const crashBackoff = new CrashBackoff(options.crashLoopBackoff);
  const actuated = new ActuatedResources(input.checkpoints.actuated, enforcementOf(input));
  const changes: PodSync['changes'] = new Listeners();
  const stopped: PodSync['stopped'] = new Listeners();
  const imageAccess = openImageAccess(input);
  const images = imageManager(input, imageAccess);
  const offer = nodeOffer(input);
  const admission = podAdmission(input, offer);
  const pleg = new Pleg({
    cri: input.cri,
    reader: podReader(input, networks),
    cache,
    logger,
    metrics: options.metrics,
    relistPeriodMs: options.relist.periodMs,
    eventedRelistPeriodMs: options.relist.eventedPeriodMs,
    onChange: (podUid) => changes.publish(podUid),
    onListing: (works) => input.obstacles.noteListing(works),
  });
  const activePods = () =>
    workers.activePods().filter(({ metadata }) => admission.refusalOf(metadata.uid) === undefined);
  const allocations = podAllocations(input, { actuated, activePods });
  const syncer = new PodSyncer({
    runtime: runtimeDependencies(input, { tracer, networks, crashBackoff, actuated, images }),
    pleg,
    statuses,
    reasons: new WaitingReasons(),
    ...{ volumes: parts.volumes, probes: parts.probes, needs: parts.api },
    ...{ restarts, allocations },
    cgroups,
    obstacles: input.obstacles,
    logger,
    refusal: (podUid) => admission.refusalOf(podUid),
    refuse: (podUid, refusal) => refuse(admission, podUid, { refusal, metrics }),
    grants: input.grants,
    claimRefusal: input.claimLimits && ((pod, signal) => input.claimLimits!.refusalOf(pod, signal)),
    recursiveReadOnly: (pod) => hasRecursiveReadOnly(input, pod),
    onActed: (pod, steps) => metrics?.acted(pod, steps),
  });
  const workers = new PodWorkers({
    steps: tracedSteps(metrics?.timed(syncer) ?? syncer, tracer),
    logger,
    resyncPeriodMs: options.resyncPeriodMs,
    errorBackoff: ERROR_BACKOFF,
    onRecreate: () => metrics?.cameBack(),
    onStopped: (podUid) => stopped.publish(podUid),
  });
  const probes = probeAnswers(parts);
  const runtimePods = () => cache.list();
  const kept = { manager, workers, admission, ephemeral, statuses, probes, events };
  const listedPods = () => pleg.listedPods();
  const allocated = (pod: Pod) => allocations.current(pod);
  const loop = new SyncLoop({
    ...{ ...kept, runtimePods, listedPods, logger },
    allocated,
    isWaiting: (podUid) => allocations.isDeferred(podUid),
    ...(parts.api === undefined ? {} : { readNode: () => parts.api!.readNode() }),
    observer: observer(metrics, tracer),
  });
  changes.subscribe((podUid) => loop.handleLifecycle(podUid));
  const shared = { statuses, cache, tracer, metrics, changes, stopped, keepResourcesOf: input.checkpoints.keepOnly };
  return { ...shared, offer, allocated, manager, pleg, workers, loop, crashBackoff, restarts, ephemeral, imageAccess };
}

const enforcementOf = ({ options, host }: PodSyncInput) => ({ policy: options.containerResources, host });

function podAllocations(
  input: PodSyncInput,
  own: Pick<PodAllocationsOptions, 'actuated' | 'activePods'>,
): PodAllocations {
  return new PodAllocations({
    ...own,
    ...{ events: input.events, node: input.resources, enforcement: enforcementOf(input) },
    runtimeStatus: (podUid) => input.cache.get(podUid)?.status,
    checkpoint: input.checkpoints.allocated,
    fixed: fixedResources(input.options),
  });
}

type Refused = { refusal: WaitingReason; metrics: KubeletMetrics | undefined };

function refuse(admission: PodAdmission, podUid: string, { refusal, metrics }: Refused): void {
  admission.refuse(podUid, refusal);
  metrics?.refused(refusal.reason);
}

/** Returns the resources that cannot be resized in place because a static CPU or memory manager policy allocates them exclusively. */
function fixedResources({ placement: { cpu, memory } }: KubeletOptions) {
  return [
    ...(cpu.policy === 'static' ? [{ resource: 'cpu', manager: 'CPU Manager policy "static"' } as const] : []),
    ...(memory.policy === 'Static' ? [{ resource: 'memory', manager: 'Memory Manager policy "Static"' } as const] : []),
  ];
}

/**
 * Returns the resources and features that the node offers to pods. Recomputed on each call, because device plugins and the Node object
 * change.
 */
function nodeOffer({ options, parts, resources, strictGroups, host, grants }: PodSyncInput): PodSync['offer'] {
  const own = { ...nodeFacts(options, resources), strictGroups, appArmor: host.appArmor };
  return (object = parts.api?.node()) => {
    const now = { ...own, resources: { ...resources, ...grants.admissible() } };
    return object === undefined ? now : nodeFactsFromApi(now, object);
  };
}

function podAdmission(input: PodSyncInput, offer: PodSync['offer']): PodAdmission {
  const { options, pressure, statuses, shutdown } = input;
  const isStandalone = isStandaloneNode(options);
  // on a standalone node, do not reject pods after a reboot: no controller would recreate them
  const isBack = (pod: Pod) => isStandalone && statuses.lastKnown(pod) !== undefined;
  const first = (pod: Pod) =>
    isBack(pod) ? undefined : refuseUnderPressure(pod, pressure.conditions, { isStandalone });
  return new PodAdmission(offer, { first, last: () => shutdown.refusal() });
}

function probeAnswers({ probes }: PodSyncInput['parts']): ProbeAnswers {
  return { readiness: (id) => probes.readiness.get(id), startup: (id) => probes.startup.get(id) };
}

function observer(metrics: KubeletMetrics | undefined, tracer: PodTracer): PodObserver {
  return {
    seen: (pod) => {
      metrics?.seen(pod);
      tracer.mark(pod.metadata.uid, 'pod seen');
    },
    changed: (before, after) => metrics?.changed(before, after),
    refused: (reason) => metrics?.refused(reason),
    preempted: (resource) => metrics?.preempted(resource),
    orphaned: () => metrics?.orphaned(),
  };
}

function runtimeDependencies(
  input: PodSyncInput,
  own: {
    tracer: PodTracer;
    networks: SandboxNetworks;
    crashBackoff: CrashBackoff;
    actuated: ActuatedResources;
    images: ImageManager;
  },
): KuberuntimeDependencies {
  const { options, cri, events, parts, cgroups, features, hostIps } = input;
  return {
    ...own,
    cri,
    restarts: new Limiter(Math.max(2, availableParallelism()), RESTART_PATIENCE_MS),
    sandboxes: new SandboxTurns(sandboxesAtOnce(input.runtimeName, availableParallelism())),
    events,
    logger: options.logger,
    hooks: parts.hooks,
    objects: parts.podObjects,
    prepare: parts.prepare,
    dns: () => dnsSettings(options, events),
    features,
    userNamespaces: userNamespaces(options),
    cgroupParent: (pod) => cgroups.parentFor(pod),
    hostIps,
    podLogsDir: options.podLogsDir,
    kubeletId: kubeletIdOf(options.rootDir),
    clusterDomain: options.clusterDomain,
    node: { policy: options.containerResources, host: input.host },
    seccompDefault: options.seccompDefault,
    netRawDefault: options.netRawDefault,
    seccompRoot: seccompRoot(options),
  };
}

function userNamespaces({ rootDir, maxPods, userNamespaceIdsPerPod: idsPerPod }: KubeletOptions): UserNamespaces {
  const directories = new PodDirectories(rootDir);
  return new UserNamespaces({ directories, idsPerPod, maxPods, available: () => podIdRange(idsPerPod) });
}

/** Returns the current DNS settings. Emits an event for the node if the host's search domains exceed the limits for pods. */
async function dnsSettings(options: KubeletOptions, events: EventRecorder): Promise<DnsSettings> {
  const { resolvConf, clusterDomain, nodeName } = options;
  const host = await hostResolvConf(resolvConf);
  const problem = searchProblem(resolvConf, host, clusterDomain);
  if (problem !== undefined) events.event(nodeSubject(nodeName), 'Warning', 'CheckLimitsForResolvConf', problem);
  return { ...options, host };
}

/**
 * Whether the pod's runtime handler supports recursive read-only mounts, according to the last status in which the container runtime was
 * ready.
 */
function hasRecursiveReadOnly({ obstacles, parts }: PodSyncInput, pod: Pod): boolean {
  const { handlers = [] } = obstacles.abilities() ?? {};
  if (handlers.length === 0) return false;
  try {
    const name = runtimeHandler({ objects: parts.podObjects }, pod);
    return handlers.find((one) => one.name === name)?.features?.recursiveReadOnlyMounts === true;
  } catch {
    return false; // creating the sandbox reports a missing RuntimeClass
  }
}

function podReader({ options, cri, runtimeName }: PodSyncInput, networks: SandboxNetworks): RuntimePodReader {
  const kubeletId = kubeletIdOf(options.rootDir);
  return new RuntimePodReader({ cri, networks, kubeletId, runtimeName, legacyLogs: options.legacyLogs });
}

function openImageAccess({ options, cri }: PodSyncInput): ImageAccess {
  const { rootDir, images, logger, metrics } = options;
  return new ImageAccess({
    cri,
    directory: join(rootDir, 'image_manager'),
    policy: images.verification,
    logger,
    metrics,
  });
}

function imageManager({ options, cri, events, parts }: PodSyncInput, access: ImageAccess): ImageManager {
  const { images, logger } = options;
  const queue = {
    maxParallel: images.serializePulls ? 1 : images.maxParallelPulls,
    qps: images.registryPullQps,
    burst: images.registryBurst,
  };
  const { pullBackoff, dockerConfigPaths, credentialProviders } = images;
  const { metrics } = options;
  return new ImageManager({
    cri,
    events,
    objects: parts.podObjects,
    logger,
    queue,
    backoff: pullBackoff,
    dockerConfigPaths,
    access,
    providers: credentialProviders && new CredentialProviders({ ...credentialProviders, logger, metrics }),
    metrics,
  });
}
