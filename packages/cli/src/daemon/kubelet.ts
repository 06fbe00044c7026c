import { createLogger } from '@podwright/base';
import { refuseTakenSocket } from '@podwright/host';
import type { KubeletOptions } from '@podwright/kubelet';
import type { StopOptions } from '@podwright/node-api';
import { beginDaemon } from './begin-daemon.ts';
import type { DockerRuntime } from './docker-runtime.ts';
import { UPSTREAM_DEFAULTS } from './kubelet-options.ts';
import type { KubeletSettings } from './kubelet-settings.ts';
import { openMetrics } from './metrics.ts';
import { type ServedKubelet, serveKubelet } from './serve-kubelet.ts';
import { serviceManagerOf } from './service-manager.ts';
import type { SharedParts } from './shared-parts.ts';

/** Options of the command that are not KubeletConfiguration fields. */
export type KubeletFlags = {
  criApiVersion: KubeletOptions['criApiVersion'];
  /** Whether the container runtime is a Docker Engine, with a dockershim running in this process. */
  isDocker: boolean;
  /** The values of all flags, as shown by `/flagz`. */
  flags: Record<string, string>;
};

/** Upstream's default for `containerRuntimeEndpoint`. */
const DEFAULT_RUNTIME_ENDPOINT = 'unix:///run/containerd/containerd.sock';

/**
 * `podwright kubelet`: waits for a container runtime running in a different process, then runs pods on it until a signal stops it. Pods
 * keep running afterwards. Resolves with the options of the stop request.
 */
export async function runKubelet(settings: KubeletSettings, line: KubeletFlags): Promise<StopOptions> {
  const { criApiVersion, flags, isDocker } = line;
  const { config, configure, configuration } = settings;
  const { stopped, request, countBuffer } = beginDaemon(config);
  await refuseTakenSocket(config.apiSocket); // before this kubelet acts on pods of another kubelet
  const manager = serviceManagerOf(process.env, createLogger({ name: 'systemd', level: config.log_level }));
  await using metrics = await openMetrics(config);
  const dockershim = isDocker ? await dockerRuntime(settings, { metrics: metrics.registry, countBuffer }) : undefined;
  const place = {
    runtimeEndpoint: DEFAULT_RUNTIME_ENDPOINT,
    criApiVersion,
    defaults: UPSTREAM_DEFAULTS,
    metrics: metrics.registry,
    countBuffer,
    configure: (options: KubeletOptions) => ({ ...configure(options), ...dockershim?.place }),
    configuration,
    flags,
    serveStream: dockershim?.serveStream,
  };
  const stopping = new AbortController();
  void stopped.then(() => stopping.abort(new Error('the kubelet was stopped'))); // `stopped` never rejects
  const onWait = async () => {
    await manager.ready('container runtime is down');
    manager.watch(() => undefined); // notify the watchdog: the kubelet itself is healthy
  };
  let kubelet: ServedKubelet;
  try {
    kubelet = await serveKubelet(config, place, {
      onStop: request,
      runtimeWait: { signal: stopping.signal, onWait },
    });
  } catch (error) {
    await dockershim?.close(); // otherwise the process would stay alive without a kubelet
    if (!stopping.signal.aborted) throw error;
    await manager.stop();
    return await stopped;
  }
  await manager.ready('running');
  manager.watch(() => kubelet.unhealthyReason());
  const stop = await stopped;
  // start terminating the pods now, so that another stop request can shorten their grace period
  await Promise.all([stop.endPods && kubelet.endPods(stop), manager.stop(stop)]);
  await kubelet.close();
  await dockershim?.close();
  return stop;
}

/** Starts the dockershim. Its code is loaded only if the container runtime is a Docker Engine. */
async function dockerRuntime(settings: KubeletSettings, shared: SharedParts): Promise<DockerRuntime> {
  const { startDockerRuntime } = await import('./docker-runtime.ts');
  return startDockerRuntime(settings, shared);
}
