/** The kubelet's connection to an API server. Only loaded on nodes that belong to a cluster. */
import { Listeners, type Undo } from '@podwright/base';
import type { CriClient } from '@podwright/cri';
import type { Node, PodEvents } from '@podwright/kube-api';
import { ApiEventSink, type ApiEventSinkOptions, type Informer, Informers, NODES } from '@podwright/kube-client';
import type { NodePressure } from '@podwright/kubelet-configuration';
import type { PodSourceListener, PodSources } from '@podwright/pod-config';
import { clusterCsiObjects, clusterDriverNodes, PodNeeds } from '@podwright/volumes';
import { ApiPods } from '../api-pods/api-pods.ts';
import { DECLARED_FEATURES } from '../node/node-object.ts';
import { resourceList } from '../node/node-resources.ts';
import type { NodeShutdown } from '../node-shutdown/node-shutdown.ts';
import { nodeHostIps, servingNames } from '../node-status/host-ips.ts';
import { type RunningNodeStatus, startNodeStatus } from '../node-status/start-node-status.ts';
import type { ClusterOptions, KubeletOptions } from '../options.ts';
import type { RuntimeState } from '../runtime-state/runtime-state.ts';
import type { StatusManager } from '../status/status-manager.ts';
import { withClaims } from './claim-grants.ts';
import type { KnownHost } from './known-host.ts';
import type { KubeletParts } from './kubelet-parts.ts';
import { type NodeClaims, openNodeClaims } from './node-claims.ts';
import type { NodeGrants } from './node-grants.ts';
import type { PluginCluster } from './node-plugins.ts';
import { nodeProblems } from './node-shutdown.ts';
import { NodeVolumes } from './node-volumes.ts';
import type { PodSync } from './pod-sync.ts';

/** Existing parts of the kubelet that `openCluster` depends on. */
export type ClusterInput = {
  options: KubeletOptions;
  cluster: ClusterOptions;
  cri: CriClient;
  known: KnownHost;
  events: PodEvents;
  statuses: StatusManager;
  nodeGrants: Pick<NodeGrants, 'amounts' | 'devices'>;
};

/**
 * Parts of the kubelet that `Cluster.start` depends on. All of them have been started, and the container runtime's pods have been listed.
 */
export type ClusterHost = {
  parts: KubeletParts;
  sync: PodSync;
  runtimeState: RuntimeState;
  pressure: NodePressure;
  shutdown: NodeShutdown;
};

/** The kubelet parts that need an API server. `withClaims` must be called once, followed by `start`, also once. */
export type Cluster = {
  /** Parts that replace those of a standalone node. */
  parts: Partial<KubeletParts>;
  /** Adds devices allocated through ResourceClaims to the grants. */
  withClaims(grants: NodeGrants): NodeGrants;
  /** The host addresses to report in pod statuses; `undefined` while the Node object has no addresses. */
  hostIps(): string[] | undefined;
  /** The DNS names and IP addresses in the Node object; empty while it has none. */
  servingNames(): string[];
  /** Starts reporting to the API server. Must be called before any pod source is read. */
  start(host: ClusterHost): RunningCluster;
};

/** The parts of the kubelet in a cluster that exist only after `Cluster.start`. */
export type RunningCluster = {
  /** Starts the pod sources: the API server and `local`, the sources of a standalone node. */
  startSources(listener: PodSourceListener, local: KubeletParts['startSources']): PodSources;
};

/** Opens the clients and caches for API objects that pods depend on. Does not wait for the API server, because pods can run without it. */
export async function openCluster(input: ClusterInput, undo: Undo): Promise<Cluster> {
  const { options, cluster, events } = input;
  const { nodeName, logger } = options;
  const { client, eventClient } = cluster;
  const running: Stoppable[] = [];
  undo.add('stop watching the API server', async () => {
    await Promise.all(running.map((part) => part.stop()));
  });
  const watched = new Informers(client);
  const nodeChanged = new Listeners();
  const node = watched.start<Node>({
    resource: NODES,
    fieldSelector: `metadata.name=${nodeName}`,
    onChange: () => nodeChanged.publish(),
  });
  running.push(node, sendEvents(events, { client: eventClient, logger }, nodeName));
  const needs = openPodNeeds(options, cluster, { node, watched });
  const nodeClaims = await openNodeClaims({ options, cluster });
  const volumesInUseChanged = new Listeners();
  const pluginCluster: PluginCluster = {
    csiObjects: clusterCsiObjects({
      client,
      token: (pod, request, signal) => needs.tokens.token(pod, request, signal),
      drivers: () => needs.csiDrivers,
    }),
    driverNodes: clusterDriverNodes(client, nodeName),
    handlers: { DRAPlugin: nodeClaims.drivers },
    reportInUse: () => volumesInUseChanged.publish(),
  };
  return {
    parts: { api: needs, pluginCluster },
    withClaims: (grants) => withClaims(grants, nodeClaims),
    hostIps: () => nodeHostIps(node.get({ name: nodeName })),
    servingNames: () => servingNames(node.get({ name: nodeName })),
    start: (host) =>
      startCluster(input, { ...host, running, watched, node, nodeChanged, needs, nodeClaims, volumesInUseChanged }),
  };
}

type Stoppable = { stop: () => Promise<void> | void };

type OpenedCluster = {
  /** Parts that are stopped together when the kubelet closes. */
  running: Stoppable[];
  watched: Informers;
  node: Informer<Node>;
  nodeChanged: Listeners;
  needs: PodNeeds;
  nodeClaims: NodeClaims;
  volumesInUseChanged: Listeners;
};

function startCluster(input: ClusterInput, opened: OpenedCluster & ClusterHost): RunningCluster {
  const { nodeName, logger } = input.options;
  const { client, failpoint } = input.cluster;
  const { running, watched, node, nodeChanged, needs, parts, sync } = opened;
  const { manager, workers, statuses, stopped } = sync;
  const nodeVolumes = new NodeVolumes(parts.nodePlugins.volumesInUse);
  nodeChanged.subscribe(() => nodeVolumes.seen(node.get({ name: nodeName })));
  const status = startStatusReports(input, { ...opened, nodeVolumes });
  running.push(status);
  opened.volumesInUseChanged.subscribe(() => status.prompt());
  startClaims(opened.nodeClaims, { running, workers });
  const onStopped = (listener: (podUid: string) => void) => stopped.subscribe(listener);
  const changes = { manager, workers, statuses, onStopped };
  const pods = new ApiPods({ client, watched, nodeName, node, ...changes, logger, failpoint });
  running.push(pods, needs);
  nodeChanged.subscribe(() => pods.nodeChanged());
  needs.start({
    onObject: (change) => sync.loop.handleObject(change),
    onNews: (podUid) => workers.retry(podUid),
  });
  return { startSources: (listener, local) => pods.startSources(listener, local) };
}

function startClaims(
  { slices, drivers, driverUsable, healthChanged }: NodeClaims,
  { running, workers }: { running: Stoppable[]; workers: PodSync['workers'] },
): void {
  driverUsable.subscribe(() => workers.retryAll());
  healthChanged.subscribe((podUids) => {
    for (const uid of podUids) workers.notice(uid);
  });
  running.push(slices, drivers);
  slices.start();
}

/**
 * Returns the device counts for the node status. A resource whose device plugin is gone for good stays in the node status with a count of
 * 0.
 */
function deviceAmounts(grants: Pick<NodeGrants, 'amounts'>) {
  const { capacity, allocatable } = grants.amounts();
  return { capacity: resourceList(capacity), allocatable: resourceList(allocatable) };
}

type NodeSources = Pick<ClusterHost, 'runtimeState' | 'pressure' | 'shutdown'> &
  Pick<OpenedCluster, 'node' | 'watched'> & { nodeVolumes: NodeVolumes };

function startStatusReports(
  { options, cluster, cri, known, events, nodeGrants }: ClusterInput,
  { node: informer, watched, runtimeState, pressure, shutdown, nodeVolumes }: NodeSources,
): RunningNodeStatus {
  const { nodeName: name, nodeLabels: labels, nodeIp, node: settings, podCidr, maxPods, logger, server } = options;
  const { client, heartbeatClient, isOwnApi: registersAgain = false } = cluster;
  return startNodeStatus({
    registersAgain,
    ...{ name, labels, nodeIp, settings, podCidr, client, informer, heartbeatClient, cri, events, logger },
    facts: {
      resources: known.has,
      maxPods,
      reserved: {
        ...known.systemReserved,
        memoryBytes: known.capacity.memoryBytes - known.allocatable.memoryBytes,
      },
      port: server.port,
      declaredFeatures: DECLARED_FEATURES,
      runtimeName: known.version.runtimeName,
    },
    sources: {
      abilities: () => runtimeState.abilities(),
      pressure: () => ({
        memory: pressure.has('MemoryPressure'),
        disk: pressure.has('DiskPressure'),
        pids: pressure.has('PIDPressure'),
        diskDetail: pressure.detailOf('DiskPressure'),
      }),
      devices: () => deviceAmounts(nodeGrants),
      problems: () => nodeProblems(runtimeState, shutdown),
      onProblems: (listener) => {
        const ends = [runtimeState, pressure, shutdown].map((source) => source.onChange(listener));
        return () => ends.forEach((end) => void end());
      },
      volumesInUse: () => nodeVolumes.inUse(),
      nodeKnown: (node) => {
        nodeVolumes.known(node);
        nodeVolumes.seen(informer.get({ name })); // the watch may have delivered a newer version before
      },
      restored: () => {
        logger.warn({}, 'reads all objects again: the API server lost the lease of the node or returned an older one');
        nodeVolumes.restored(informer.get({ name }));
        watched.reread();
      },
      resetExtendedResources: () => nodeGrants.devices.isNew,
    },
  });
}

/** Sends every event recorded from now on to the API server. */
function sendEvents(events: PodEvents, options: ApiEventSinkOptions, nodeName: string): Stoppable {
  const sink = new ApiEventSink(options);
  const stopListening = events.listen((event) => sink.add(event, { component: 'kubelet', host: nodeName }));
  return {
    stop: () => {
      stopListening();
      sink.stop();
    },
  };
}

function openPodNeeds(
  { nodeName, objectChangeDetection, logger }: KubeletOptions,
  { client, podAccess }: ClusterOptions,
  { node, watched }: { node: Informer<Node>; watched: Informers },
): PodNeeds {
  return new PodNeeds({
    ...{ client, nodeName, logger, podAccess, changeDetection: objectChangeDetection },
    node: () => node.get({ name: nodeName }),
    startInformer: (options) => watched.start(options),
  });
}
