import { createLogger, VERSION } from '@podwright/base';
import { type KubeletOptions, type LocalApiOptions, serveLocalApi, startKubelet } from '@podwright/kubelet';
import type { NodeConfig } from '../settings/node-config.ts';
import { beginDaemon } from './begin-daemon.ts';
import { type KubeletPlace, kubeletOptionsOf, UPSTREAM_PROTECTION } from './kubelet-options.ts';
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
      metrics: metrics.registry,
    },
    request,
  );
  const { endPods } = await stopped;
  if (endPods) await kubelet.endPods();
  await kubelet.close();
}

/** A kubelet on a runtime, with its local API. */
export async function serveKubelet(
  config: NodeConfig,
  place: KubeletPlace,
  onStop: LocalApiOptions['onStop'],
): Promise<{ endPods: () => Promise<void>; close: () => Promise<void> }> {
  const kubelet = await startKubelet(kubeletOptionsOf(config, place));
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
    logger: createLogger({ name: 'api', level: config.log_level }),
    metrics: place.metrics,
  });
  return {
    endPods: () => kubelet.endPods(),
    close: async () => {
      await server.close();
      await kubelet.close();
    },
  };
}
