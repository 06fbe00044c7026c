import { createLogger, VERSION } from '@podwright/base';
import { type KubeletOptions, type LocalApiOptions, serveLocalApi, startKubelet } from '@podwright/kubelet';
import type { NodeConfig } from '../settings/node-config.ts';
import { beginDaemon } from './begin-daemon.ts';
import { type KubeletPlace, kubeletOptionsOf, UPSTREAM_PROTECTION } from './kubelet-options.ts';
import type { KubeletSettings } from './kubelet-settings.ts';
import { openMetrics } from './metrics.ts';

/** Options of the command that are no fields of a configuration. */
export type KubeletFlags = { criApiVersion: KubeletOptions['criApiVersion'] };

/** Where upstream's kubelet looks for a runtime that nobody named. */
const DEFAULT_RUNTIME_ENDPOINT = 'unix:///run/containerd/containerd.sock';

/** `podwright kubelet`: runs pods on a runtime that is there already, until it is told to stop. Pods go on without it. */
export async function runKubelet({ config, configure }: KubeletSettings, flags: KubeletFlags): Promise<void> {
  const { stopped, request } = beginDaemon(config);
  await using metrics = await openMetrics(config);
  const kubelet = await serveKubelet(
    config,
    {
      runtimeEndpoint: DEFAULT_RUNTIME_ENDPOINT,
      criApiVersion: flags.criApiVersion,
      protection: UPSTREAM_PROTECTION,
      metrics: metrics.registry,
      configure,
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
  place: KubeletPlace & { configure?: KubeletSettings['configure'] },
  onStop: LocalApiOptions['onStop'],
): Promise<{ endPods: () => Promise<void>; close: () => Promise<void> }> {
  const { configure = (options) => options, ...runtime } = place;
  const options = configure(kubeletOptionsOf(config, runtime));
  const kubelet = await startKubelet(options);
  const server = await serveLocalApi({
    socketPath: config.apiSocket,
    kubelet,
    info: {
      name: options.nodeName,
      version: VERSION,
      startedAt: new Date().toISOString(),
      rootDir: config.root,
      stateDir: config.state,
      manifestDir: options.manifestDir,
      podLogsDir: options.podLogsDir,
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
