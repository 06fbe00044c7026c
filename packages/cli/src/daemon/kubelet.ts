import { createLogger, type Registry, VERSION } from '@podwright/base';
import {
  type KubeletOptions,
  type LocalApiOptions,
  serveKubeletApi,
  serveLocalApi,
  startKubelet,
} from '@podwright/kubelet';
import type { NodeConfig } from '../settings/node-config.ts';
import { beginDaemon } from './begin-daemon.ts';
import {
  type ApiPorts,
  type KubeletPlace,
  kubeletOptionsOf,
  serverOptionsOf,
  UPSTREAM_PORTS,
  UPSTREAM_PROTECTION,
} from './kubelet-options.ts';
import { openMetrics } from './metrics.ts';

export type KubeletFlags = {
  containerRuntimeEndpoint: string;
  imageServiceEndpoint?: string;
  criApiVersion: KubeletOptions['criApiVersion'];
};

/** `podwright kubelet`: runs pods on a runtime that is there already, until it is told to stop. Pods go on without it. */
export async function runKubelet(config: NodeConfig, flags: KubeletFlags): Promise<void> {
  const { stopped, request } = beginDaemon(config);
  await using metrics = await openMetrics(config);
  const kubelet = await serveKubelet(
    config,
    {
      runtimeEndpoint: flags.containerRuntimeEndpoint,
      imageEndpoint: flags.imageServiceEndpoint,
      criApiVersion: flags.criApiVersion,
      protection: UPSTREAM_PROTECTION,
      ports: UPSTREAM_PORTS,
      metrics: metrics.registry,
    },
    request,
  );
  const { endPods } = await stopped;
  if (endPods) await kubelet.endPods();
  await kubelet.close();
}

/** A kubelet on a runtime, with its local API and its HTTP API. */
export async function serveKubelet(
  config: NodeConfig,
  { ports, ...place }: KubeletPlace & { metrics: Registry; ports: ApiPorts },
  onStop: LocalApiOptions['onStop'],
): Promise<{ endPods: () => Promise<void>; close: () => Promise<void> }> {
  const logger = createLogger({ name: 'api', level: config.log_level });
  const kubelet = await startKubelet(kubeletOptionsOf(config, place));
  const api = await serveKubeletApi({
    kubelet,
    registry: place.metrics,
    options: serverOptionsOf(config, ports),
    logger,
  });
  const server = await serveLocalApi({
    socketPath: config.apiSocket,
    kubelet,
    info: {
      name: config.node_name,
      version: VERSION,
      startedAt: new Date().toISOString(),
      rootDir: config.root,
      stateDir: config.state,
      manifestDir: config.manifests,
      podLogsDir: config.pod_logs,
    },
    onStop,
    logger,
    kubeletApi: api.listener,
  });
  return {
    endPods: () => kubelet.endPods(),
    close: async () => {
      await Promise.all([server.close(), api.close()]);
      await kubelet.close();
    },
  };
}
