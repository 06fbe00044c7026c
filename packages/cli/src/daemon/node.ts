import { existsSync } from 'node:fs';
import { createLogger, PodwrightError } from '@podwright/base';
import type { KubeletOptions } from '@podwright/kubelet';
import type { StopOptions } from '@podwright/node-api';
import { loadSystem, SocketOwners, type TcpEnds } from '@podwright/system';
import { markStarting } from '../client/starting-node.ts';
import { apiServerPaths } from '../settings/api-server-paths.ts';
import { clusterFiles } from '../settings/cluster-files.ts';
import type { NodeConfig } from '../settings/node-config.ts';
import { beginDaemon } from './begin-daemon.ts';
import { STANDALONE_NODE_DEFAULTS, UPSTREAM_DEFAULTS } from './kubelet-options.ts';
import { noteLeftBehind } from './left-behind.ts';
import { openMetrics } from './metrics.ts';
import { closeApi, closeParts, closeUnused, startNodeParts } from './node-parts.ts';
import { serveKubelet } from './serve-kubelet.ts';
import { serviceManagerOf } from './service-manager.ts';
import { guardPort } from './stranger-connections.ts';
import { tmpfsCalls } from './tmpfs-calls.ts';

const API_IN_CLUSTER =
  'a node of a cluster has no Kubernetes API of its own: remove enabled from the table api of the configuration file, or leave the cluster';

/** Throws if the node used to have a Kubernetes API that is now disabled: without it, the node would terminate the pods stored there. */
function refuseWithoutApi(config: NodeConfig): void {
  const { directory, ofNode } = apiServerPaths(config);
  if (config.api.enabled || !existsSync(ofNode)) return;
  const message = `the objects of this node are in its Kubernetes API: remove enabled = false from the table api of the configuration file; to start without them, which ends their pods, remove ${directory}`;
  throw new PodwrightError('failed_precondition', message);
}

/** Makes the node's own DNS server the pods' name server, unless the settings specify others. */
function withClusterDns(address: string | undefined) {
  return (options: KubeletOptions): KubeletOptions =>
    address === undefined || options.clusterDns.length > 0 ? options : { ...options, clusterDns: [address] };
}

/**
 * `podwright node`: runs the container runtime, and a kubelet that connects to the runtime's socket like any other kubelet. With `runtime =
 * "docker"`, runs a dockershim in place of the runtime. Resolves with the options of the stop request.
 */
export async function runNode(config: NodeConfig): Promise<StopOptions> {
  const system = loadSystem();
  const { stopped, request, countBuffer } = beginDaemon(config, system);
  using starting = markStarting(config.state);
  const manager = serviceManagerOf(process.env, createLogger({ name: 'systemd', level: config.log_level }));
  const files = clusterFiles(config);
  if (files !== undefined && config.api.enabled) throw new PodwrightError('invalid_argument', API_IN_CLUSTER);
  refuseWithoutApi(config);
  const settings = files && (await (await import('./cluster-settings.ts')).clusterSettings(config, files));
  await using metrics = await openMetrics(config);
  const { registry } = metrics;
  const { runtime, standaloneApi } = await startNodeParts(config, { metrics: registry, countBuffer });
  const owners = new SocketOwners();
  const place = {
    ...{ ...runtime.place, serveStream: runtime.serveStream, metrics: registry, countBuffer },
    criApiVersion: 'v1' as const,
    tmpfs: tmpfsCalls(system),
    defaults: settings === undefined ? STANDALONE_NODE_DEFAULTS : UPSTREAM_DEFAULTS,
    configuration: settings?.configuration,
    configure: settings?.configure ?? withClusterDns(standaloneApi?.services.dnsAddress),
    standaloneApi,
    peerUser: (ends: TcpEnds) => owners.userOf(ends),
    onListening: guardPort,
  };
  const kubelet = await serveKubelet(config, place, { onStop: request }).catch(async (error: unknown) => {
    await closeApi(standaloneApi);
    await closeUnused(runtime); // otherwise the process would stay alive without a kubelet
    throw error;
  });
  starting[Symbol.dispose]();
  await manager.ready('running');
  manager.watch(() => kubelet.unhealthyReason());
  const stop = await stopped;
  if (stop.restart) markStarting(config.state); // commands wait until the node responds again, also after execve(2)
  // start terminating the pods now, so that another stop request can shorten their grace period
  const [isEmpty] = await Promise.all([stop.endPods && kubelet.endPods(stop), manager.stop(stop)]);
  const hasPodsLeft = stop.endPods && !isEmpty;
  await kubelet.close();
  const removeHostState = !stop.restart && ((stop.removeHostState && !hasPodsLeft) || runtime.isEmpty());
  await noteLeftBehind(config.state, closeParts({ runtime, standaloneApi }, { removeHostState }));
  return stop;
}
