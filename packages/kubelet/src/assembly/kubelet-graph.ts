/**
 * The parts of a running kubelet, with their dependencies and how to stop each one. A part starts after its dependencies, otherwise in
 * table order. Parts without a value (`Done`) are startup steps that later parts wait for.
 */
import { join } from 'node:path';
import { type Done, type GraphParts, partsOf, type Undo } from '@podwright/base';
import { type CriClient, createSpanExporter } from '@podwright/cri';
import { claimFormat } from '@podwright/host';
import { nodeSubject, PodEvents } from '@podwright/kube-api';
import { NodePressure } from '@podwright/kubelet-configuration';
import type { ClaimLimits } from '@podwright/volumes';
import type { PodCgroups } from '../cgroups/pod-cgroups.ts';
import { PodFreezer } from '../cgroups/pod-freezer.ts';
import type { EvictionManager } from '../eviction/eviction-manager.ts';
import type { ImageGarbageCollector } from '../gc/image-gc.ts';
import { isStopped } from '../kubecontainer/runtime-pod.ts';
import { RuntimeFeatures } from '../kuberuntime/runtime-features.ts';
import { withSharedRemovals } from '../kuberuntime/shared-removals.ts';
import type { NodeFacts } from '../node/node-object.ts';
import { lockRoot } from '../node/root-lock.ts';
import type { NodeShutdown } from '../node-shutdown/node-shutdown.ts';
import type { KubeletOptions } from '../options.ts';
import { PodStatusCache } from '../pleg/pod-status-cache.ts';
import { KUBELET_FORMAT } from '../record-format.ts';
import { RuntimeState } from '../runtime-state/runtime-state.ts';
import type { SummaryProvider } from '../stats/summary-provider.ts';
import { StatusManager } from '../status/status-manager.ts';
import { StatusRecords } from '../status/status-records.ts';
import { PodTracer } from '../trace/pod-tracer.ts';
import type { Cluster, ClusterInput, RunningCluster } from './cluster.ts';
import { connectRuntime, type RuntimeWait } from './connect-runtime.ts';
import { startGrantServices } from './grant-services.ts';
import { type KnownHost, lookAtHost } from './known-host.ts';
import { type KubeletParts, kubeletParts } from './kubelet-parts.ts';
import { openNodeCgroups } from './node-cgroups.ts';
import { nodeClaimLimits } from './node-claim-limits.ts';
import { imageGarbageCollector, nodeEviction } from './node-eviction.ts';
import { type NodeGrants, openNodeGrants } from './node-grants.ts';
import { nodeFacts } from './node-object-facts.ts';
import { createNodeShutdown, podEnder } from './node-shutdown.ts';
import { nodeSummary } from './node-summary.ts';
import { startPodMetrics } from './pod-metrics.ts';
import { createPodSync, type PodSync } from './pod-sync.ts';
import { openResourceCheckpoints, type ResourceCheckpoints } from './resource-checkpoints.ts';
import { type RunningPods, runPods } from './run-pods.ts';
import { startSync } from './start-sync.ts';

/** Parts supplied by the caller: a container runtime connection, which the kubelet closes, and replacements for the kubelet's own parts. */
export type GivenParts = Partial<KubeletParts> & { cri?: CriClient };

/** The started parts, by name. */
export type KubeletGraph = {
  rootLock: Done;
  tracer: PodTracer;
  cri: CriClient;
  /** Unix time in milliseconds at which the kubelet first reached the container runtime. */
  startedAtMs: number;
  features: RuntimeFeatures;
  known: KnownHost;
  records: StatusRecords;
  checkpoints: ResourceCheckpoints;
  /** Pod statuses, including those recorded before the kubelet restarted. */
  statuses: StatusManager;
  events: PodEvents;
  /** The pods' statuses in the container runtime; empty until `runningSync` has started. */
  cache: PodStatusCache;
  /** Resources that the node allocates exclusively to pods. Same as `grants` if there is no API server. */
  nodeGrants: NodeGrants;
  /** The parts that need an API server; `undefined` if there is none. */
  cluster: Cluster | undefined;
  grants: NodeGrants;
  cgroups: PodCgroups;
  freezer: PodFreezer;
  pressure: NodePressure;
  claimLimits: ClaimLimits;
  runtimeState: RuntimeState;
  shutdown: NodeShutdown;
  hostIps: () => string[];
  parts: KubeletParts;
  /** The parts that sync pods. They are idle until `runningSync` starts. */
  sync: PodSync;
  /** Done once the container runtime's pods have been listed and its status has been read. */
  runningSync: Done;
  devicePlugins: Done;
  runningCluster: RunningCluster | undefined;
  shutdownWatch: Done;
  nodePlugins: Done;
  grantServices: Done;
  summary: SummaryProvider;
  images: ImageGarbageCollector;
  eviction: EvictionManager;
  runningPods: RunningPods;
  podMetrics: Done;
  node: NodeFacts;
};

const { part, step } = partsOf<KubeletGraph>();

export type KubeletStart = { options: KubeletOptions; given: GivenParts; runtimeWait: RuntimeWait | undefined };

export function kubeletGraph(start: KubeletStart): GraphParts<KubeletGraph> {
  return { ...nodeParts(start), ...podParts(start), ...runningParts(start.options) };
}

/** The parts of the kubelet that pods depend on: the container runtime, the host and the API server. */
function nodeParts({ options, given, runtimeWait }: KubeletStart) {
  const { rootDir, nodeName, logger } = options;
  return {
    rootLock: step([], async (_, undo) => {
      undo.add('unlock the root directory', await lockRoot(rootDir));
      claimFormat(rootDir, KUBELET_FORMAT);
    }),
    tracer: part(['rootLock'], (_, undo) => {
      const resource = { 'service.name': 'kubelet', 'host.name': nodeName };
      const tracer = new PodTracer(createSpanExporter(options.tracing, { resource, logger }));
      undo.add('send the last spans', () => tracer.close());
      return tracer;
    }),
    cri: part(['rootLock', 'tracer'], async ({ tracer }, undo) => {
      const cri = given.cri ?? (await connectRuntime(options, tracer.tracer, runtimeWait));
      undo.add('close the connection to the runtime', () => cri.close());
      return withSharedRemovals(cri);
    }),
    startedAtMs: part(['cri'], () => Date.now()),
    features: part(['cri'], ({ cri }) => new RuntimeFeatures(cri)),
    known: part(['cri', 'features'], (required) => lookAtHost(options, required)),
    records: part(['rootLock'], (_, undo) => {
      const records = new StatusRecords(join(rootDir, 'pod-statuses'), logger);
      undo.add('write the statuses of pods', () => records.close());
      return records;
    }),
    checkpoints: part(['rootLock'], (_, undo) => openResourceCheckpoints(options, undo)),
    statuses: part(['records'], async ({ records }) => new StatusManager(await records.read(), records)),
    events: part([], () => new PodEvents(nodeName)),
    cache: part([], () => new PodStatusCache()),
    nodeGrants: part(['rootLock', 'cache'], async ({ cache }, undo) => {
      const isRunning = (podUid: string) => {
        const status = cache.get(podUid)?.status;
        return status !== undefined && !isStopped(status);
      };
      const grants = await openNodeGrants({ options, isRunning });
      undo.add('close the device manager', () => grants.close());
      return grants;
    }),
    cluster: part(['cri', 'known', 'events', 'statuses', 'nodeGrants'], async (required, undo) => {
      const cluster = await openCluster({ ...required, options }, undo);
      required.events.event(nodeSubject(nodeName), 'Normal', 'Starting', 'Starting kubelet.');
      return cluster;
    }),
    grants: part(['nodeGrants', 'cluster'], ({ nodeGrants, cluster }) => cluster?.withClaims(nodeGrants) ?? nodeGrants),
    cgroups: part(['known', 'cri', 'events', 'grants'], ({ known, cri, events, grants }, undo) =>
      openNodeCgroups({ ...known, options, cri, events, hasOwnCpus: grants.hasOwnCpus }, undo),
    ),
    freezer: part(['known'], ({ known }) => new PodFreezer(known.hierarchy)),
  };
}

/** The parts that sync pods. None of them is running yet. */
function podParts({ options, given: { cri: _, ...given } }: KubeletStart) {
  const { nodeName, logger } = options;
  return {
    pressure: part([], () => new NodePressure()),
    runtimeState: part(['cri', 'events'], ({ cri, events }) => {
      const onNetworkNote = (reason: string, message: string) =>
        events.event(nodeSubject(nodeName), 'Warning', reason, message);
      return new RuntimeState({ cri, logger, onNetworkNote });
    }),
    shutdown: part(['events'], ({ events }) => createNodeShutdown(options, events)),
    hostIps: part(['cluster', 'known'], ({ cluster, known }) => {
      const own = () => known.addresses;
      return cluster === undefined ? own : () => cluster.hostIps() ?? own();
    }),
    parts: part(['cri', 'events', 'hostIps', 'known', 'grants', 'cluster', 'freezer'], (required, undo) => {
      const { known, grants, cluster } = required;
      const { devices, grantsOf } = grants;
      const parts = kubeletParts(
        { ...required, options, resources: known.resources, grantsOf, devicePlugins: devices.pluginHandler },
        { ...cluster?.parts, ...given },
      );
      undo.add('close the volumes and plugins', async () => {
        await Promise.all([parts.volumes.close(), parts.claims.close(), parts.nodePlugins.close()]);
      });
      undo.add('stop the probes', () => parts.probes.stop());
      return parts;
    }),
    claimLimits: part(['parts'], ({ parts }) => nodeClaimLimits({ options, claims: parts.claims })),
    sync: part(
      [
        ...(['tracer', 'cri', 'features', 'known', 'statuses', 'events', 'cache', 'grants', 'cgroups'] as const),
        ...(['pressure', 'runtimeState', 'shutdown', 'hostIps', 'parts', 'checkpoints', 'claimLimits'] as const),
      ],
      ({ known, runtimeState, ...required }) =>
        createPodSync({
          ...{ ...known, ...required, options },
          obstacles: runtimeState,
          runtimeName: known.version.runtimeName,
        }),
    ),
    summary: part(['cri', 'cgroups', 'parts', 'sync', 'known', 'freezer'], (required) =>
      nodeSummary({ ...required, options }),
    ),
    images: part(['cri', 'events', 'sync'], (required) =>
      imageGarbageCollector({ ...required, options }, required.sync),
    ),
    eviction: part(
      ['cri', 'cgroups', 'events', 'known', 'sync', 'parts', 'summary', 'images', 'pressure', 'claimLimits'],
      ({ parts, ...required }) => nodeEviction({ ...required, options, volumes: parts.volumes }),
    ),
    node: part(['known', 'grants', 'pressure', 'startedAtMs'], (required) => nodeFacts({ ...required, options })),
  };
}

/** The parts that run in the background, in start order. Pod sources are read last. */
function runningParts(options: KubeletOptions) {
  return {
    runningSync: step(['cri', 'sync', 'runtimeState'], (required, undo) => startSync({ ...required, options }, undo)),
    devicePlugins: step(['runningSync', 'grants', 'sync'], ({ grants, sync }) =>
      grants.serve((podUids) => podUids.forEach((uid) => void sync.workers.notice(uid))),
    ),
    runningCluster: part(
      ['runningSync', 'cluster', 'parts', 'sync', 'runtimeState', 'pressure', 'shutdown'],
      ({ cluster, ...host }) => cluster?.start(host),
    ),
    shutdownWatch: step(['runningSync', 'shutdown', 'events', 'sync'], ({ shutdown, events, sync }, undo) => {
      undo.add('stop watching for a shutdown of the host', () => shutdown.stop());
      shutdown.start(podEnder({ options, events, sync }));
    }),
    nodePlugins: step(['runningSync', 'runningCluster', 'parts', 'sync'], ({ parts, sync }) =>
      parts.nodePlugins.start(() => sync.workers.retryAll()),
    ),
    grantServices: step(['runningSync', 'cri', 'sync', 'grants'], async (required, undo) => {
      const services = await startGrantServices({ ...required, options });
      undo.add('close the pod resources API', () => services.close());
    }),
    podMetrics: step(['known', 'sync'], (required, undo) => startPodMetrics({ ...required, options }, undo)),
    runningPods: part(
      [
        ...(['devicePlugins', 'shutdownWatch', 'nodePlugins', 'grantServices', 'podMetrics', 'node'] as const),
        ...(['cri', 'events', 'parts', 'cgroups', 'sync', 'runningCluster', 'grants'] as const),
        ...(['records', 'images', 'eviction'] as const),
      ],
      (required, undo) => runPods({ ...required, options }, undo),
    ),
  };
}

/** Loads the cluster code, but only on a node that belongs to a cluster. */
async function openCluster(input: Omit<ClusterInput, 'cluster'>, undo: Undo): Promise<Cluster | undefined> {
  const { cluster } = input.options;
  if (cluster === undefined) return undefined;
  const room = await import('./cluster.ts');
  return await room.openCluster({ ...input, cluster }, undo);
}
