/** The kubelet's composition root: connects to the runtime, makes the parts, and starts them. */
import { type CgroupHierarchy, errorMessage } from '@podwright/base';
import { type CriClient, connectCri } from '@podwright/cri';
import type { Pod } from './api/types.ts';
import { type KubeletParts, kubeletParts } from './assembly/kubelet-parts.ts';
import { createPodSync, type PodSync } from './assembly/pod-sync.ts';
import { openPodCgroups } from './cgroups/cgroupfs-pod-cgroups.ts';
import { hostCgroups, runtimeCgroupDriver } from './cgroups/host-cgroups.ts';
import type { PodCgroups } from './cgroups/pod-cgroups.ts';
import { PodEvents } from './events/pod-events.ts';
import { enforceEmptyDirLimits } from './gc/empty-dir-limits.ts';
import { runHousekeeping } from './gc/housekeeping.ts';
import type { WaitingReason } from './kubecontainer/sync-result.ts';
import { Kubelet, type KubeletDependencies } from './kubelet.ts';
import { podLogDirectory } from './kuberuntime/pod-sandbox-config.ts';
import { type NodeAmounts, nodeAllocatable } from './node/node-allocatable.ts';
import { readNodeCapacity } from './node/node-capacity.ts';
import { hostAddresses } from './node/node-facts.ts';
import type { KubeletOptions } from './options.ts';
import { type SummaryParts, SummaryProvider } from './stats/summary-provider.ts';
import { ContainerUsage } from './usage/container-usage.ts';
import { PodDirectories } from './volumes/pod-directories.ts';

/** What a caller gives of the kubelet itself: a connection, which the kubelet closes, and parts in place of its own. */
export type GivenParts = Partial<KubeletParts> & { cri?: CriClient };

/**
 * Runs the pods of the manifest directory (and URL) on a container runtime until the kubelet is closed; containers go on, and
 * those that run already are taken over. Rejects with `unavailable` or `unimplemented` if there is no CRI runtime at the endpoint.
 */
export async function startKubelet(options: KubeletOptions, given: GivenParts = {}): Promise<Kubelet> {
  const { cri = await connect(options), ...parts } = given;
  try {
    return await assemble(options, cri, parts);
  } catch (error) {
    cri.close();
    throw error;
  }
}

function connect(options: KubeletOptions): Promise<CriClient> {
  const { runtimeEndpoint, imageEndpoint, criApiVersion: apiVersion, metrics, logger } = options;
  return connectCri({ runtimeEndpoint, imageEndpoint, apiVersion, metrics, logger });
}

async function assemble(options: KubeletOptions, cri: CriClient, given: Partial<KubeletParts>): Promise<Kubelet> {
  const { logger } = options;
  const [version, addresses, hierarchy] = await Promise.all([
    cri.runtime.version({}),
    hostAddresses(options.nodeIp),
    hostCgroups(logger),
  ]);
  const startedAtMs = Date.now();
  const capacity = await readNodeCapacity(hierarchy);
  const allocatable = nodeAllocatable(capacity, options.systemReserved);
  const cgroups = await podCgroups({ options, cri, hierarchy, allocatable });
  const events = new PodEvents(options.nodeName);
  const hostIps = () => addresses;
  const parts = kubeletParts({ options, cri, events, hostIps, allocatable }, given);
  const sync = createPodSync({
    options,
    cri,
    events,
    parts,
    cgroups,
    cgroupV2: hierarchy?.mode === 'v2',
    hostIps,
    runtimeName: version.runtimeName,
  });
  await sync.pleg.start();
  const running = run({ options, cri, events, parts, cgroups, sync });
  const runtime = { name: version.runtimeName, version: version.runtimeVersion };
  const node = {
    name: options.nodeName,
    labels: options.nodeLabels,
    maxPods: options.maxPods,
    addresses,
    capacity,
    allocatable,
    runtime,
    startedAtMs,
  };
  const usage = new ContainerUsage(cri);
  const summary = summaryProvider({ options, cri, parts, sync, hierarchy, memoryBytes: capacity.memoryBytes });
  const cgroupVersion = hierarchy?.mode === 'v2' ? 2 : 1;
  countPods(sync, { nodeName: options.nodeName, cgroupVersion });
  const { objects } = parts;
  const own = { options, cri, events, cgroups, objects, node, usage, summary, version: runtime };
  return new Kubelet({ ...sync, ...running, ...own });
}

type SummaryInput = Pick<RunInput, 'options' | 'cri' | 'parts' | 'sync'> &
  Pick<SummaryParts, 'hierarchy' | 'memoryBytes'>;

function summaryProvider({ options, cri, parts, sync, hierarchy, memoryBytes }: SummaryInput): SummaryProvider {
  const { nodeName, cgroupRoot, rootDir, podLogsDir, logger } = options;
  const directories = new PodDirectories(rootDir);
  return new SummaryProvider({
    ...{ cri, nodeName, hierarchy, memoryBytes, cgroupRoot, rootDir, logger },
    logDirectory: (pod) => podLogDirectory(podLogsDir, pod),
    hostsFile: (uid) => directories.etcHosts(uid),
    runtimePods: () => sync.cache.list(),
    podOf: (uid) => sync.statuses.pod(uid),
    volumePaths: (uid) => parts.volumes.pathsOf(uid),
  });
}

/** Metrics of pods, if somebody asks for metrics. */
function countPods(
  { metrics, cache, manager, workers }: PodSync,
  node: { nodeName: string; cgroupVersion: 1 | 2 },
): void {
  metrics?.count({
    ...node,
    runtimePods: () => cache.list(),
    desiredPods: () => manager.list(),
    activePods: () => workers.activePods(),
  });
}

type CgroupsInput = {
  options: KubeletOptions;
  cri: CriClient;
  hierarchy: CgroupHierarchy | undefined;
  allocatable: NodeAmounts;
};

async function podCgroups({ options, cri, hierarchy, allocatable }: CgroupsInput): Promise<PodCgroups> {
  const { cgroupRoot: root, cgroupDriver, podPidsLimit, logger } = options;
  const driver = cgroupDriver === 'auto' ? await runtimeCgroupDriver(cri) : cgroupDriver;
  const limits = {
    pidsPerPod: podPidsLimit > 0 ? podPidsLimit : undefined,
    allPods: options.enforceNodeAllocatable ? allocatable : undefined,
  };
  return openPodCgroups({ root, driver, hierarchy, limits, logger });
}

type RunInput = {
  options: KubeletOptions;
  cri: CriClient;
  events: PodEvents;
  parts: KubeletParts;
  cgroups: PodCgroups;
  sync: PodSync;
};

/** Connects everything that can happen with the sync loop, and starts the sources and the housekeeping. */
function run(input: RunInput): Pick<KubeletDependencies, 'ready' | 'endPods' | 'manifestErrors' | 'close'> {
  const { options, cri, parts, sync } = input;
  const { loop, cache, workers, pleg } = sync;
  const controller = new AbortController();
  const results = [parts.probes.liveness, parts.probes.readiness, parts.probes.startup];
  const unsubscribe = [
    parts.objects.onChange((change) => loop.handleObject(change)),
    ...results.map((result) => result.onChange((update) => loop.handleProbe(update))),
  ];
  const sources = parts.startSources({
    onUpdate: (update) => {
      if (update.operation === 'UPDATE') for (const pod of update.pods) sync.statuses.relabel(pod);
      loop.handlePods(update);
    },
    runningPods: () => cache.list().flatMap(({ sandboxes }) => sandboxes.slice(0, 1).map(({ owner }) => owner)),
  });
  let sourcesRead = false;
  const ready = sources.ready.then(() => {
    sourcesRead = true;
    return removeOrphans(input);
  });
  ready.catch((error: unknown) =>
    options.logger.error({ error: errorMessage(error) }, 'what is left of pods that are gone could not be removed'),
  );
  const housekeeping = keepUp(input, () => sourcesRead, controller.signal);
  void tellMetrics(sync, controller.signal);
  const endPods = async () => {
    await sources.stop(); // or a change of a manifest would bring its pod back
    await Promise.all(sync.manager.list().map((pod) => workers.end(pod, { remove: true })));
  };
  const close = async () => {
    controller.abort();
    for (const stop of unsubscribe) stop();
    await sources.stop();
    await workers.stop();
    await pleg.stop();
    parts.probes.stop();
    await housekeeping;
    await parts.volumes.close();
    cri.close();
  };
  return { ready, endPods, manifestErrors: () => sources.errors(), close };
}

/** Tells the metrics of each change of a pod's status. */
async function tellMetrics({ metrics, statuses }: PodSync, signal: AbortSignal): Promise<void> {
  if (metrics === undefined) return;
  for await (const { type, pod } of statuses.subscribe(signal))
    metrics.told(pod.metadata.uid, type === 'DELETED' ? undefined : pod);
}

/** Ends what no source has, once each has been read. */
async function removeOrphans({ parts, cgroups, sync }: RunInput): Promise<void> {
  const wanted = sync.manager.list().map(({ metadata }) => metadata.uid);
  const known = new Set([...wanted, ...sync.cache.list().map(({ pod }) => pod.uid)]);
  sync.loop.endOrphans();
  await parts.volumes.removeOrphans(known);
  await cgroups.removeOrphans(known);
}

/** A source that cannot be read yet, such as a URL that does not answer, holds up the end of orphans only. */
function keepUp(
  { options, cri, events, parts, sync }: RunInput,
  sourcesRead: () => boolean,
  signal: AbortSignal,
): Promise<void> {
  const { loop, cache, workers, crashBackoff } = sync;
  const { logger, imageGc, containerGc, containerLog } = options;
  const limits = {
    volumes: parts.volumes,
    events,
    logger,
    evict: (pod: Pod, verdict: WaitingReason) => {
      sync.metrics?.evicted('emptydirfs.limit');
      loop.evict(pod, verdict);
    },
  };
  const work = {
    cri,
    logger,
    policies: { images: imageGc, containers: containerGc, logs: containerLog },
    runtimePods: () => cache.list(),
    cleanUpPods: () => {
      if (sourcesRead()) loop.endOrphans();
      crashBackoff.collectGarbage();
    },
    enforceVolumeLimits: () => enforceEmptyDirLimits(limits, workers.activePods()),
  };
  return runHousekeeping(work, signal);
}
