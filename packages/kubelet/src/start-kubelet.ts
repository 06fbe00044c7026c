/** The kubelet's composition root: connects to the runtime, makes the parts, and starts them. */
import { join } from 'node:path';
import {
  background,
  describeUndoFailures,
  errorCode,
  errorMessage,
  follow,
  type Logger,
  type Tracer,
  Undo,
} from '@podwright/base';
import { type CriClient, connectCri, createSpanExporter } from '@podwright/cri';

import { isStaticPod, nodeSubject, type Pod, type PodUpdate } from '@podwright/kube-api';
import { NodePressure } from '@podwright/kubelet-configuration';
import { PodDirectories } from '@podwright/volumes';
import type { Cluster, ClusterInput } from './assembly/cluster.ts';
import { startGrantServices } from './assembly/grant-services.ts';
import { type KnownHost, lookAtHost } from './assembly/known-host.ts';
import { type KubeletParts, kubeletParts } from './assembly/kubelet-parts.ts';
import { openNodeCgroups } from './assembly/node-cgroups.ts';
import { imageGarbageCollector, nodeEviction } from './assembly/node-eviction.ts';
import { type NodeGrants, openNodeGrants } from './assembly/node-grants.ts';
import { createNodeShutdown, nodeProblems, podEnder } from './assembly/node-shutdown.ts';
import { type OrphanInput, removeOrphans } from './assembly/orphans.ts';
import { createPodSync, type PodSync } from './assembly/pod-sync.ts';
import type { PodCgroups } from './cgroups/pod-cgroups.ts';
import type { PodSourceListener } from './config/pod-sources.ts';
import { PodEvents } from './events/pod-events.ts';
import type { EvictionManager } from './eviction/eviction-manager.ts';
import { runHousekeeping } from './gc/housekeeping.ts';
import type { ImageGarbageCollector } from './gc/image-gc.ts';
import { isStopped, type RuntimePodStatus } from './kubecontainer/runtime-pod.ts';
import { type EndPods, Kubelet, type KubeletDependencies } from './kubelet.ts';
import { podLogDirectory } from './kuberuntime/pod-sandbox-config.ts';
import { RuntimeFeatures } from './kuberuntime/runtime-features.ts';
import { withSharedRemovals } from './kuberuntime/shared-removals.ts';
import { type CountedPods, countPods } from './metrics/pod-counts.ts';
import { requireOfHost } from './node/host-requirements.ts';
import type { NodeFacts } from './node/node-object.ts';
import { applyOomScore } from './node/oom-score.ts';
import { lockRoot } from './node/root-lock.ts';
import type { NodeShutdown } from './node-shutdown/node-shutdown.ts';
import { pressureConditions } from './node-status/node-conditions.ts';
import type { KubeletOptions } from './options.ts';
import { PodStatusCache } from './pleg/pod-status-cache.ts';
import { RuntimeState } from './runtime-state/runtime-state.ts';
import { type SummaryParts, SummaryProvider } from './stats/summary-provider.ts';
import { isTerminal } from './status/pod-phase.ts';
import { type PodChange, StatusManager } from './status/status-manager.ts';
import { StatusRecords } from './status/status-records.ts';
import { PodTracer } from './trace/pod-tracer.ts';
import { ContainerUsage } from './usage/container-usage.ts';

/** A runtime that is down for this long when the kubelet starts is reported as down, and waited for. */
const RUNTIME_START_PATIENCE_MS = 2000;

/** What a caller gives of the kubelet itself: a connection, which the kubelet closes, and parts in place of its own. */
export type GivenParts = Partial<KubeletParts> & { cri?: CriClient };

/** How a caller waits for a runtime that is down when the kubelet starts. */
export type RuntimeWait = {
  /** Ends the waiting; the start then rejects with its reason. */
  signal: AbortSignal;
  /** Called with the reason when it is clear that there is something to wait for; if it rejects, so does the start. */
  onWait: (reason: string) => Promise<void>;
};

/**
 * Runs the pods of the manifest directory (and URL) on a container runtime until the kubelet is closed; containers go on, and
 * those that run already are taken over. Rejects with `already_exists` if another kubelet uses the root directory, with `unimplemented`
 * if what is at the endpoint is no CRI runtime, and without `runtimeWait` with `unavailable` if there is none.
 */
export async function startKubelet(
  options: KubeletOptions,
  given: GivenParts = {},
  runtimeWait?: RuntimeWait,
): Promise<Kubelet> {
  await requireOfHost(options.requirements);
  if (options.oomScoreAdj !== undefined) await applyOomScore(options.oomScoreAdj, options.logger);
  const undo = new Undo();
  try {
    undo.add('unlock the root directory', await lockRoot(options.rootDir));
    const resource = { 'service.name': 'kubelet', 'host.name': options.nodeName };
    const exporter = createSpanExporter(options.tracing, { resource, logger: options.logger });
    const tracer = new PodTracer(exporter);
    undo.add('send the last spans', () => tracer.close());
    const { cri = await connect(options, tracer.tracer, runtimeWait), ...parts } = given;
    undo.add('close the connection to the runtime', () => cri.close());
    return await assemble({ options, cri: withSharedRemovals(cri), tracer, undo }, parts);
  } catch (error) {
    await undoAll(undo, options.logger);
    throw error;
  }
}

/** Ends what was started, newest first. */
async function undoAll(undo: Undo, logger: Logger): Promise<void> {
  const failures = await undo.run();
  if (failures.length > 0)
    logger.error({ error: describeUndoFailures(failures) }, 'the kubelet could not be stopped completely');
}

type Connected = {
  options: KubeletOptions;
  cri: CriClient;
  tracer: PodTracer;
  /** How to end what has been started: when the start fails, or the kubelet is closed. */
  undo: Undo;
};

async function connect(
  options: KubeletOptions,
  tracer: Tracer,
  runtimeWait: RuntimeWait | undefined,
): Promise<CriClient> {
  const { runtimeEndpoint, imageEndpoint, criApiVersion: apiVersion, metrics, logger } = options;
  const requestTimeoutMs = options.runtimeRequestTimeoutMs;
  const signal = runtimeWait?.signal;
  const how = { runtimeEndpoint, imageEndpoint, apiVersion, requestTimeoutMs, metrics, logger, signal, tracer };
  try {
    return await connectCri({ ...how, connectTimeoutMs: runtimeWait && RUNTIME_START_PATIENCE_MS });
  } catch (error) {
    if (runtimeWait === undefined || signal?.aborted || errorCode(error) !== 'unavailable') throw error;
    const reason = errorMessage(error);
    logger.error({ endpoint: runtimeEndpoint, error: reason }, 'container runtime is down, waiting for it');
    await runtimeWait.onWait(reason);
    return await connectCri({ ...how, connectTimeoutMs: Number.POSITIVE_INFINITY });
  }
}

/** What the pods of the node need of it, before anything syncs them. */
async function openNode({ options, cri, undo }: Connected) {
  const { logger } = options;
  const features = new RuntimeFeatures(cri);
  const known = await lookAtHost(options, { cri, features });
  const records = new StatusRecords(join(options.rootDir, 'pod-statuses'), logger);
  undo.add('write the statuses of pods', () => records.close());
  const statuses = new StatusManager(await records.read(), records);
  const events = new PodEvents(options.nodeName);
  const cache = new PodStatusCache();
  const ofNode = await openNodeGrants({ options, isRunning: (podUid) => isThere(cache.get(podUid)?.status) });
  undo.add('close the device manager', () => ofNode.close());
  const cluster = await openCluster({ options, cri, known, events, statuses, grants: ofNode, undo });
  events.event(nodeSubject(options.nodeName), 'Normal', 'Starting', 'Starting kubelet.');
  const grants = cluster?.withClaims(ofNode) ?? ofNode;
  const cgroups = await openNodeCgroups({ ...known, options, cri, events, hasOwnCpus: grants.hasOwnCpus });
  undo.add('close the cgroups of pods', () => cgroups.close());
  return { features, known, records, statuses, events, cache, cluster, grants, cgroups };
}

async function assemble(connected: Connected, given: Partial<KubeletParts>): Promise<Kubelet> {
  const { options, cri, tracer, undo } = connected;
  const startedAtMs = Date.now();
  const { known, cluster, ...node } = await openNode(connected);
  const { version, addresses, hierarchy, capacity, resources, host } = known;
  const { records, events, grants, cgroups } = node;
  const pressure = new NodePressure();
  const onNetworkNote = (reason: string, message: string) =>
    events.event(nodeSubject(options.nodeName), 'Warning', reason, message);
  const runtimeState = new RuntimeState({ cri, logger: options.logger, onNetworkNote });
  const shutdown = createNodeShutdown(options, events);
  const hostIps = () => cluster?.hostIps() ?? addresses;
  const { grantsOf } = grants;
  const devicePlugins = grants.devices.pluginHandler;
  const parts = kubeletParts(
    { options, cri, events, hostIps, resources, grantsOf, devicePlugins },
    { ...cluster?.parts, ...given },
  );
  undo.add('close the volumes and plugins', async () => {
    await Promise.all([parts.volumes.close(), parts.claims.close(), parts.nodePlugins.close()]);
  });
  const sync = createPodSync({
    ...{ ...node, options, cri, parts, resources, host, hostIps, tracer },
    ...{ shutdown, pressure, strictGroups: known.strictGroups, addresses },
    obstacles: runtimeState,
    runtimeName: version.runtimeName,
  });
  const started = { options, cri, parts, sync, cgroups, runtimeState, pressure, shutdown, grants, events, undo };
  await startParts(started, cluster);
  const summary = summaryProvider({ options, cri, cgroups, parts, sync, hierarchy, memoryBytes: capacity.memoryBytes });
  const images = imageGarbageCollector({ options, cri, events }, sync);
  const { volumes } = parts;
  const eviction = nodeEviction({ options, cri, cgroups, events, known, sync, volumes, summary, images, pressure });
  const running = run({
    ...{ options, cri, events, parts, cgroups, sync, cluster, grants },
    records,
    images,
    eviction,
    undo,
  });
  const runtime = { name: version.runtimeName, version: version.runtimeVersion };
  const facts = nodeFacts({ options, known, grants, runtime, startedAtMs, pressure });
  const usage = new ContainerUsage(cri);
  const cgroupVersion = hierarchy?.mode === 'v2' ? 2 : 1;
  if (options.metrics !== undefined)
    countPods(options.metrics, {
      ...{ nodeName: options.nodeName, cgroupVersion, hasMirrors: cluster !== undefined },
      ...countedPods(sync),
    });
  const { objects, claims } = parts;
  const own = {
    ...{ cri, events, cgroups, objects, claims, node: facts, usage, summary, runtimeState, pressure, version: runtime },
    problems: () => nodeProblems(runtimeState, shutdown),
    options: { ...options, systemReserved: known.systemReserved },
    servingNames: () => cluster?.servingNames() ?? [],
  };
  return new Kubelet({ ...sync, ...running, ...own });
}

type StartedParts = Connected & {
  parts: KubeletParts;
  sync: PodSync;
  cgroups: PodCgroups;
  runtimeState: RuntimeState;
  pressure: NodePressure;
  shutdown: NodeShutdown;
  grants: NodeGrants;
  events: PodEvents;
};

/** Starts everything but the sources of pods. */
async function startParts(started: Omit<StartedParts, 'tracer'>, cluster: Cluster | undefined): Promise<void> {
  const { options, cri, parts, sync, runtimeState, shutdown, grants, events, undo } = started;
  const { pleg, workers } = sync;
  undo.add('stop the probes', () => parts.probes.stop());
  undo.add('stop asking the runtime for its status', () => runtimeState.stop());
  undo.add('stop listing the pods of the runtime', () => pleg.stop());
  undo.add('stop the pod workers', () => workers.stop());
  await sync.ephemeral.load(options.logger);
  const onRecovery = () => workers.retryAll();
  const plegHealth = () => {
    const problem = pleg.problem();
    return problem && `PLEG is not healthy: ${problem}`;
  };
  const healthChecks = [plegHealth];
  await Promise.all([pleg.start(), runtimeState.start({ onRecovery, healthChecks }), tellPodCidr(options, cri)]);
  await grants.serve((podUids) => podUids.forEach((uid) => void workers.notice(uid)));
  cluster?.start(started);
  undo.add('stop watching for a shutdown of the host', () => shutdown.stop());
  shutdown.start(podEnder({ options, events, sync }));
  parts.nodePlugins.start(onRecovery);
  const grantServices = await startGrantServices({ options, cri, sync, grants });
  undo.add('close the pod resources API', () => grantServices.close());
}

const isThere = (status: RuntimePodStatus | undefined) => status !== undefined && !isStopped(status);

/** What is of a cluster is loaded where there is one. */
async function openCluster(input: Omit<ClusterInput, 'cluster'>): Promise<Cluster | undefined> {
  const { cluster } = input.options;
  if (cluster === undefined) return undefined;
  const room = await import('./assembly/cluster.ts');
  return await room.openCluster({ ...input, cluster });
}

type FactsInput = Pick<NodeFacts, 'runtime' | 'startedAtMs'> & {
  options: KubeletOptions;
  known: KnownHost;
  grants: NodeGrants;
  pressure: NodePressure;
};

/** Amounts are with those of devices as they are now. */
function nodeFacts({ options, known, grants, runtime, startedAtMs, pressure }: FactsInput): NodeFacts {
  return {
    name: options.nodeName,
    labels: options.nodeLabels,
    maxPods: options.maxPods,
    addresses: known.addresses,
    get capacity() {
      return { ...known.has, ...grants.amounts().capacity };
    },
    get allocatable() {
      return { ...known.resources, ...grants.amounts().allocatable };
    },
    runtime,
    startedAtMs,
    conditions: () => pressureConditions(pressure, startedAtMs),
  };
}

/** The subnet of pods, where the kubelet is told (`podCIDR`); a runtime that has another way does not mind. */
async function tellPodCidr({ podCidr, logger }: KubeletOptions, cri: CriClient): Promise<void> {
  if (podCidr === '') return;
  const runtimeConfig = { networkConfig: { podCidr } };
  await cri.runtime.updateRuntimeConfig({ runtimeConfig }).catch((error: unknown) => {
    logger.error({ podCidr, error: errorMessage(error) }, 'the runtime could not be told the subnet of pods');
  });
}

type SummaryInput = Pick<RunInput, 'options' | 'cri' | 'cgroups' | 'parts' | 'sync'> &
  Pick<SummaryParts, 'hierarchy' | 'memoryBytes'>;

function summaryProvider({
  options,
  cri,
  cgroups,
  parts,
  sync,
  hierarchy,
  memoryBytes,
}: SummaryInput): SummaryProvider {
  const { nodeName, rootDir, podLogsDir, logger, metrics } = options;
  const directories = new PodDirectories(rootDir);
  return new SummaryProvider({
    ...{ cri, nodeName, hierarchy, memoryBytes, podsCgroup: cgroups.allPods, rootDir, logger, metrics },
    logDirectory: (pod) => podLogDirectory(podLogsDir, pod),
    hostsFile: (uid) => directories.etcHosts(uid),
    messageDirectory: (uid, container) => directories.containers(uid, container),
    cgroupOf: (pod) => cgroups.parentFor(pod),
    runtimePods: () => sync.cache.list(),
    podOf: (uid) => sync.statuses.pod(uid),
    volumePaths: (uid) => parts.volumes.pathsOf(uid),
    driverUse: (path) => parts.nodePlugins.csi.use(path) ?? parts.nodePlugins.csiBlock.use(path),
  });
}

function countedPods({
  cache,
  manager,
  workers,
  statuses,
}: PodSync): Omit<CountedPods, 'nodeName' | 'cgroupVersion' | 'hasMirrors'> {
  return {
    runtimePods: () => cache.list(),
    desiredPods: () => manager.list(),
    activePods: () => workers.activePods(),
    workedPods: () => workers.list(),
    shownPods: () => statuses.pods(),
  };
}

type RunInput = {
  options: KubeletOptions;
  cri: CriClient;
  events: PodEvents;
  parts: KubeletParts;
  cgroups: PodCgroups;
  sync: PodSync;
  cluster: Cluster | undefined;
  grants: NodeGrants;
  records: StatusRecords;
  images: ImageGarbageCollector;
  eviction: EvictionManager;
  undo: Undo;
};

/** Connects everything that can happen with the sync loop, and starts the sources and the housekeeping. */
function run(
  input: RunInput,
): Pick<KubeletDependencies, 'sourcesReady' | 'endPods' | 'manifestErrors' | 'update' | 'close'> {
  const { options, parts, sync, undo } = input;
  const { loop, cache } = sync;
  const controller = new AbortController();
  const results = [parts.probes.liveness, parts.probes.readiness, parts.probes.startup];
  const unsubscribe = [
    parts.objects.onChange((change) => loop.handleObject(change)),
    ...results.map((result) => result.onChange((update) => loop.handleProbe(update))),
  ];
  const listener: PodSourceListener = {
    onUpdate: (update) => {
      if (['UPDATE', 'DELETE'].includes(update.operation)) for (const pod of update.pods) sync.statuses.relabel(pod);
      loop.handlePods(update);
    },
    runningPods: () => cache.list().flatMap(({ sandboxes }) => sandboxes.slice(0, 1).map(({ owner }) => owner)),
  };
  const sources = input.cluster?.startSources(listener, parts.startSources) ?? parts.startSources(listener);
  const wrongFiles = () => new Set(sources.errors().map(({ file }) => file));
  let sourcesRead = false;
  const sourcesReady = sources.ready.then(() => {
    sourcesRead = true;
    return removeOrphans(orphanInput(input), wrongFiles());
  });
  sourcesReady.catch((error: unknown) =>
    options.logger.error({ error: errorMessage(error) }, 'what is left of pods that are gone could not be removed'),
  );
  const housekeeping = keepUp(input, () => (sourcesRead ? wrongFiles() : undefined), controller.signal);
  background(options.logger, 'the metrics of pods are not updated', followStatuses(sync, controller.signal));
  const endPods = async ({ ofApi, gracePeriodSeconds }: EndPods) => {
    await sources.stop(); // or a change of a manifest would bring its pod back
    const pods = sync.manager.list();
    const ending = pods.filter((pod) => ofApi || isStaticPod(pod));
    await Promise.all(ending.map((pod) => endKept(input, pod, gracePeriodSeconds)));
    return ending.length === pods.length;
  };
  undo.add('stop the housekeeping and the sources of pods', async () => {
    controller.abort();
    for (const stop of unsubscribe) stop();
    await sources.stop();
    await housekeeping;
  });
  const close = () => undoAll(undo, options.logger);
  const update = (change: PodUpdate) => loop.handlePods(change);
  return { sourcesReady, endPods, manifestErrors: () => sources.errors(), update, close };
}

/** The status and the logs of a pod that had ended before stay: the next start does not run it a second time. */
async function endKept({ records, sync }: RunInput, pod: Pod, gracePeriodSeconds: number | undefined): Promise<void> {
  const { uid, namespace, name } = pod.metadata;
  const { status, metadata } = sync.statuses.pod(uid) ?? pod;
  const hadEnded = isTerminal(status?.phase) && metadata.deletionTimestamp === undefined; // not by an earlier call
  await sync.loop.end(pod, { gracePeriodSeconds, keepLogs: hadEnded });
  if (hadEnded) records.save(uid, { namespace, name, status: status! });
}

function orphanInput({ options, parts, cgroups, grants, sync }: RunInput): OrphanInput {
  return { sync, volumes: parts.volumes, cgroups, grants, podLogsDir: options.podLogsDir, logger: options.logger };
}

/** Passes each change of a pod's status to the metrics. */
async function followStatuses({ metrics, statuses }: PodSync, signal: AbortSignal): Promise<void> {
  if (metrics === undefined) return;
  const known = new Set<string>();
  const onValue = ({ type, pod }: Pick<PodChange, 'type' | 'pod'>) => {
    const { uid } = pod.metadata;
    metrics.told(uid, type === 'DELETED' ? undefined : pod);
    if (type === 'DELETED') known.delete(uid);
    else known.add(uid);
  };
  const onOverflow = () => {
    for (const uid of known) if (statuses.pod(uid) === undefined) metrics.told(uid, undefined);
    for (const pod of statuses.pods()) onValue({ type: 'MODIFIED', pod });
  };
  await follow({ subscribe: (ends) => statuses.subscribe(ends), onValue, onOverflow }, signal);
}

/** A source that cannot be read yet, such as a URL that does not answer, holds up the end of orphans only. */
function keepUp(
  input: RunInput,
  wrongFiles: () => ReadonlySet<string> | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { options, cri, events, cgroups, sync, images } = input;
  const { cache, crashBackoff } = sync;
  const { logger, containerGc, containerLog } = options;
  const work = {
    cri,
    logger,
    images,
    policies: { containers: containerGc, logs: containerLog },
    logLinks: { directory: options.containerLogsDir, podLogsDir: options.podLogsDir },
    runtimePods: () => cache.list(),
    onPodChange: (listener: (pod: RuntimePodStatus) => void) =>
      sync.changes.subscribe((uid) => {
        const seen = cache.get(uid);
        if (seen !== undefined) listener(seen.status);
      }),
    events,
    nodeName: options.nodeName,
    cleanUpPods: async () => {
      const wrong = wrongFiles();
      crashBackoff.collectGarbage();
      if (wrong !== undefined) await removeOrphans(orphanInput(input), wrong);
    },
    orphanPeriodMs: options.orphanPeriodMs,
    refreshCgroups: () => cgroups.refresh(),
  };
  return Promise.all([runHousekeeping(work, signal), input.eviction.run(signal)]).then(() => undefined);
}
