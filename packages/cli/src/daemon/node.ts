import type { Server } from 'node:http';
import { createLogger, PodwrightError } from '@podwright/base';
import { discoverCgroups, removeCgroup } from '@podwright/host';
import type { StopOptions } from '@podwright/node-api';
import { type RuntimeHandle, startRuntime } from '@podwright/runtime';
import { deferAccept, filterConnections, loadSystem, SocketOwners, type TcpEnds } from '@podwright/system';
import { markStarting } from '../client/starting-node.ts';
import { clusterFiles } from '../settings/cluster-files.ts';
import type { NodeConfig } from '../settings/node-config.ts';
import { beginDaemon } from './begin-daemon.ts';
import { claimCgroupPlace, closeCgroupPlace, openCgroupPlace } from './cgroup-place.ts';
import { type KubeletPlace, STANDALONE_NODE_DEFAULTS, UPSTREAM_DEFAULTS } from './kubelet-options.ts';
import { noteLeftBehind } from './left-behind.ts';
import { openMetrics } from './metrics.ts';
import { runtimeOptions } from './runtime-options.ts';
import { serveKubelet } from './serve-kubelet.ts';
import { serviceManagerOf } from './service-manager.ts';
import type { SharedParts } from './shared-parts.ts';

/**
 * How long the kernel holds back a connection to the kubelet's ports until the client sends data (TCP_DEFER_ACCEPT). It is the same as the
 * timeout for a request.
 */
const SILENT_CLIENT_SECONDS = 10;

const API_IN_CLUSTER =
  'a node of a cluster has no Kubernetes API of its own: remove enabled from the table api of the configuration file, or leave the cluster';

/**
 * `podwright node`: runs the container runtime, and a kubelet that connects to the runtime's socket like any other kubelet. With `runtime =
 * "docker"`, a dockershim takes the place of the runtime. Resolves with the options of the stop request.
 */
export async function runNode(config: NodeConfig): Promise<StopOptions> {
  const { stopped, request, countBuffer } = beginDaemon(config, loadSystem());
  using starting = markStarting(config.state);
  const manager = serviceManagerOf(process.env, createLogger({ name: 'systemd', level: config.log_level }));
  const files = clusterFiles(config);
  if (files !== undefined && config.api.enabled) throw new PodwrightError('invalid_argument', API_IN_CLUSTER);
  const settings = files && (await (await import('./cluster-settings.ts')).clusterSettings(config, files));
  await using metrics = await openMetrics(config);
  const { registry } = metrics;
  const runtime = await (config.container_runtime === 'docker' ? dockerRuntime : ownRuntime)(config, {
    metrics: registry,
    countBuffer,
  });
  const standaloneApi = config.api.enabled ? await startStandastandaloneApi(config, runtime) : undefined;
  const owners = new SocketOwners();
  const place = {
    ...{ ...runtime.place, serveStream: runtime.serveStream, metrics: registry, countBuffer },
    criApiVersion: 'v1' as const,
    defaults: settings === undefined ? STANDALONE_NODE_DEFAULTS : UPSTREAM_DEFAULTS,
    configuration: settings?.configuration,
    configure: settings?.configure,
    standaloneApi,
    peerUser: (ends: TcpEnds) => owners.userOf(ends),
    onListening: (server: Server, allows?: (ends: TcpEnds) => boolean) => {
      deferAccept(server, SILENT_CLIENT_SECONDS);
      if (allows) filterConnections(server, allows);
    },
  };
  const kubelet = await serveKubelet(config, place, { onStop: request }).catch(async (error: unknown) => {
    await standaloneApi?.close();
    await runtime.close({ removeHostState: false }); // otherwise the process would stay alive without a kubelet
    throw error;
  });
  starting[Symbol.dispose]();
  await manager.ready('running');
  manager.watch(() => kubelet.unhealthyReason());
  const stop = await stopped;
  if (stop.restart) markStarting(config.state); // commands wait until it answers again, also after execve(2)
  // start terminating the pods now, so that another stop request can shorten their grace period
  const [isEmpty] = await Promise.all([stop.endPods && kubelet.endPods(stop), manager.stop(stop)]);
  const hasPodsLeft = stop.endPods && !isEmpty;
  await kubelet.close();
  const removeHostState = !stop.restart && ((stop.removeHostState && !hasPodsLeft) || runtime.isEmpty());
  await noteLeftBehind(config.state, runtime.close({ removeHostState }));
  return stop;
}

/** Starts the Kubernetes API of a standalone node. If that fails, closes the runtime, without which the process exits. */
async function startStandastandaloneApi(config: NodeConfig, runtime: NodeRuntime) {
  try {
    return await (await import('./standalone-api.ts')).startStandastandaloneApi(config); // loaded only if needed
  } catch (error) {
    await runtime.close({ removeHostState: false });
    throw error;
  }
}

/** The container runtime running in a node's process. */
type NodeRuntime = {
  place: Pick<KubeletPlace, 'runtimeEndpoint' | 'cgroupDriver' | 'cgroupRoot' | 'legacyLogs'>;
  serveStream: RuntimeHandle['serveStream'];
  /** Whether it has no pods from any client, which means that its host state can be removed. */
  isEmpty: () => boolean;
  close: (options: { removeHostState: boolean }) => Promise<void>;
};

async function ownRuntime(config: NodeConfig, shared: SharedParts): Promise<NodeRuntime> {
  const cgroups = await openCgroupPlace(config);
  await claimCgroupPlace(cgroups);
  const runtime = await startRuntime({ ...runtimeOptions(config), ...cgroups, ...shared });
  return {
    place: {
      runtimeEndpoint: runtime.endpoint,
      // cgroupfs even if the runtime uses the systemd driver: this kubelet shares the runtime's delegated cgroup, while other kubelets use
      // slices
      cgroupDriver: 'cgroupfs',
      cgroupRoot: cgroups.cgroupParent,
    },
    serveStream: runtime.serveStream,
    isEmpty: runtime.isEmpty,
    close: async ({ removeHostState }) => {
      await runtime.close({ removeHostState });
      if (removeHostState) await closeCgroupPlace(cgroups);
    },
  };
}

/** Starts the dockershim. The kubelet gets the cgroup driver from it, which is Docker's. */
async function dockerRuntime(config: NodeConfig, shared: SharedParts): Promise<NodeRuntime> {
  const { startNodeDockershim } = await import('./docker-runtime.ts'); // loaded only if needed
  const { place, serveStream, close } = await startNodeDockershim(config, shared);
  return {
    place,
    serveStream,
    isEmpty: () => false, // the Docker Engine may have containers of other programs
    close: async ({ removeHostState }) => {
      await close();
      // with the systemd driver, slices are used instead, so there is nothing to remove
      if (removeHostState) await removeCgroup(await discoverCgroups(), config.cgroup_parent);
    },
  };
}
