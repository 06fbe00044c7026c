/** Everything that a kubelet does with an API server, put together. Loaded only where there is one. */
import type { Undo } from '@podwright/base';
import type { CriClient } from '@podwright/cri';
import type { Node } from '@podwright/kube-api';
import { type Informer, Informers, NODES } from '@podwright/kube-client';
import type { NodePressure } from '@podwright/kubelet-configuration';
import { clusterCsiObjects, clusterDriverNodes, type NodeInformers, PodNeeds } from '@podwright/volumes';
import { ApiPods } from '../api-pods/api-pods.ts';
import type { PodCgroups } from '../cgroups/pod-cgroups.ts';
import type { PodSourceListener, PodSources } from '../config/pod-sources.ts';
import { startApiEventSink } from '../events/api-event-sink.ts';
import type { PodEvents } from '../events/pod-events.ts';
import { DECLARED_FEATURES } from '../node/node-object.ts';
import { resourceList } from '../node/node-resources.ts';
import type { NodeShutdown } from '../node-shutdown/node-shutdown.ts';
import { nodeHostIps, servingNames } from '../node-status/host-ips.ts';
import { type NodeStatusRoom, startNodeStatus } from '../node-status/start-node-status.ts';
import type { ClusterOptions, KubeletOptions } from '../options.ts';
import type { PodWorkers } from '../pod/pod-workers.ts';
import type { RuntimeState } from '../runtime-state/runtime-state.ts';
import type { StatusManager } from '../status/status-manager.ts';
import { withClaims } from './claim-grants.ts';
import type { KnownHost } from './known-host.ts';
import type { KubeletParts } from './kubelet-parts.ts';
import { openNodeClaims } from './node-claims.ts';
import type { NodeGrants } from './node-grants.ts';
import type { PluginCluster } from './node-plugins.ts';
import { nodeProblems } from './node-shutdown.ts';
import { NodeVolumes } from './node-volumes.ts';
import type { PodSync } from './pod-sync.ts';

/** What is there before the parts of the kubelet are made. */
export type ClusterInput = {
  options: KubeletOptions;
  cluster: ClusterOptions;
  cri: CriClient;
  known: KnownHost;
  events: PodEvents;
  statuses: StatusManager;
  /** Who knows what device plugins offer. */
  grants: Pick<NodeGrants, 'amounts' | 'devices'>;
  undo: Undo;
};

/** What is there once they are made, and the pods of the runtime are known. */
export type ClusterHost = {
  parts: KubeletParts;
  sync: PodSync;
  cgroups: PodCgroups;
  runtimeState: RuntimeState;
  pressure: NodePressure;
  shutdown: NodeShutdown;
};

/** The cluster's side of a kubelet. The methods are called once each, in this order. */
export type Cluster = {
  /** Parts that take the place of the lone node's. */
  parts: Partial<KubeletParts>;
  /** The same, with the devices of ResourceClaims. */
  withClaims(grants: NodeGrants): NodeGrants;
  /** The addresses of the host that pods show; `undefined` before the node object has any. */
  hostIps(): string[] | undefined;
  /** DNS names and addresses of the node object; none before it has any. */
  servingNames(): string[];
  /** Starts what looks at the kubelet and tells the API server, before any source is read. */
  start(host: ClusterHost): void;
  /** Starts the sources of pods: the lone node's, and the API server. */
  startSources(listener: PodSourceListener, local: KubeletParts['startSources']): PodSources;
};

/**
 * Waits for no answer of the API server: pods run without it.
 *
 * A room adds what it needs to `ClusterInput` and `ClusterHost`, and itself below: to `parts` what pods need of it, to `running` what
 * `start` begins.
 */
export async function openCluster(input: ClusterInput): Promise<Cluster> {
  const { options, cluster, events } = input;
  const { nodeName, logger } = options;
  const { client, eventClient, failpoint } = cluster;
  const running: { stop: () => Promise<void> | void }[] = [];
  input.undo.add('stop watching the API server', async () => {
    await Promise.all(running.map((room) => room.stop()));
  });
  let pods: ApiPods | undefined;
  let status: NodeStatusRoom | undefined;
  let informers: NodeInformers | undefined;
  let nodeVolumes: NodeVolumes | undefined;
  const watched = new Informers(client);
  const node = watched.start<Node>({
    resource: NODES,
    fieldSelector: `metadata.name=${nodeName}`,
    onChange: () => {
      pods?.nodeChanged();
      nodeVolumes?.seen(node.get({ name: nodeName }));
    },
  });
  running.push(node, startApiEventSink({ client: eventClient, events, nodeName, logger }));
  const needs = openPodNeeds(options, cluster, { node, watched });
  let workers: PodWorkers | undefined;
  const ofClaims = await openNodeClaims({
    ...{ options, cluster },
    onDriver: () => workers?.retryAll(),
    onHealth: (podUids) => {
      for (const uid of podUids) workers?.notice(uid);
    },
  });
  const { drivers, slices } = ofClaims;
  const pluginCluster: PluginCluster = {
    csiObjects: clusterCsiObjects({
      client,
      token: (pod, wish, signal) => needs.tokens.token(pod, wish, signal),
      drivers: () => informers?.csiDrivers,
    }),
    driverNodes: clusterDriverNodes(client, nodeName),
    handlers: { DRAPlugin: drivers },
    reportInUse: () => status?.prompt(),
  };
  return {
    parts: { api: needs, pluginCluster },
    withClaims: (grants) => withClaims(grants, ofClaims),
    hostIps: () => nodeHostIps(node.get({ name: nodeName })),
    servingNames: () => servingNames(node.get({ name: nodeName })),
    start: ({ sync, runtimeState, pressure, shutdown, parts }) => {
      nodeVolumes = new NodeVolumes(parts.nodePlugins.volumesInUse);
      status = startNode(input, { informer: node, watched, runtimeState, pressure, shutdown, nodeVolumes });
      running.push(status, slices, drivers);
      slices.start();
      workers = sync.workers;
      const { manager, statuses, stopped } = sync;
      const onStopped = (listener: (podUid: string) => void) => stopped.subscribe(listener);
      const changes = { manager, workers: sync.workers, statuses, onStopped };
      pods = new ApiPods({ client, watched, nodeName, node, ...changes, logger, failpoint });
      running.push(pods, needs);
      informers = needs.start({
        onObject: (change) => sync.loop.handleObject(change),
        onNews: (podUid) => sync.workers.retry(podUid),
      });
    },
    startSources: (listener, local) => pods!.startSources(listener, local),
  };
}

/** A resource whose plugin has gone for good stays in the node's status, with nothing of it. */
function deviceAmounts(grants: Pick<NodeGrants, 'amounts'>) {
  const { capacity, allocatable } = grants.amounts();
  return { capacity: resourceList(capacity), allocatable: resourceList(allocatable), removed: [] };
}

type NodeSources = Pick<ClusterHost, 'runtimeState' | 'pressure' | 'shutdown'> & {
  informer: Informer<Node>;
  watched: Informers;
  nodeVolumes: NodeVolumes;
};

function startNode(
  { options, cluster, cri, known, events, grants }: ClusterInput,
  { informer, watched, runtimeState, pressure, shutdown, nodeVolumes }: NodeSources,
): NodeStatusRoom {
  const { nodeName: name, nodeLabels: labels, nodeIp, node: settings, podCidr, maxPods, logger, server } = options;
  const { client, heartbeatClient } = cluster;
  return startNodeStatus({
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
    rooms: {
      abilities: () => runtimeState.abilities(),
      pressure: () => ({
        memory: pressure.has('MemoryPressure'),
        disk: pressure.has('DiskPressure'),
        pids: pressure.has('PIDPressure'),
      }),
      devices: () => deviceAmounts(grants),
      problems: () => nodeProblems(runtimeState, shutdown),
      onProblems: (listener) => {
        const ends = [runtimeState, pressure, shutdown].map((source) => source.onChange(listener));
        return () => ends.forEach((end) => void end());
      },
      volumesInUse: () => nodeVolumes.inUse(),
      nodeKnown: (node) => {
        nodeVolumes.known(node);
        nodeVolumes.seen(informer.get({ name })); // the watch may have been first
      },
      restored: () => {
        logger.warn({}, 'the API server has gone back to an earlier state: all its objects are read anew');
        nodeVolumes.restored(informer.get({ name }));
        watched.reread();
      },
      resetExtendedResources: () => grants.devices.isNew,
    },
  });
}

function openPodNeeds(
  { nodeName, objectChangeDetection, logger }: KubeletOptions,
  { client }: ClusterOptions,
  { node, watched }: { node: Informer<Node>; watched: Informers },
): PodNeeds {
  return new PodNeeds({
    ...{ client, nodeName, logger, changeDetection: objectChangeDetection },
    node: () => node.get({ name: nodeName }),
    startInformer: (options) => watched.start(options),
  });
}
