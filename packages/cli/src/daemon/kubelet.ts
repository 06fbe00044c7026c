import {
  background,
  createLogger,
  describeUndoFailures,
  type Logger,
  type Registry,
  refuseTakenSocket,
  Undo,
  VERSION,
} from '@podwright/base';
import { type Kubelet, type KubeletOptions, type RuntimeWait, startKubelet } from '@podwright/kubelet';
import { type ServeKubeletApiInput, serveKubeletApi, serveWaiting } from '@podwright/kubelet-server';
import { type LocalApiOptions, type StopOptions, serveLocalApi } from '@podwright/node-api';
import type { NodeConfig } from '../settings/node-config.ts';
import { beginDaemon } from './begin-daemon.ts';
import type { ClusterConnection, ClusterConnectionInput } from './cluster.ts';
import type { DockerRuntime } from './docker-runtime.ts';
import { type KubeletPlace, kubeletOptionsOf, UPSTREAM_DEFAULTS } from './kubelet-options.ts';
import type { KubeletSettings } from './kubelet-settings.ts';
import { openMetrics } from './metrics.ts';
import { serviceManagerOf } from './service-manager.ts';

/** Options of the command that are not fields of a configuration. */
export type KubeletFlags = {
  criApiVersion: KubeletOptions['criApiVersion'];
  /** Whether the runtime is a Docker Engine, through a dockershim in this process. */
  isDocker: boolean;
  /** The values of all flags, for `/flagz`. */
  flags: Record<string, string>;
};

/** Upstream's default of containerRuntimeEndpoint. */
const DEFAULT_RUNTIME_ENDPOINT = 'unix:///run/containerd/containerd.sock';

/**
 * `podwright kubelet`: runs pods on a runtime in another process until a signal stops it. Pods keep running without it. At its start it
 * waits for the runtime.
 */
export async function runKubelet(settings: KubeletSettings, line: KubeletFlags): Promise<void> {
  const { criApiVersion, flags, isDocker } = line;
  const { config, configure, configuration } = settings;
  const { stopped, request } = beginDaemon(config);
  await refuseTakenSocket(config.apiSocket); // before this kubelet acts on pods of another one
  const manager = serviceManagerOf(process.env, createLogger({ name: 'systemd', level: config.log_level }));
  await using metrics = await openMetrics(config);
  const dockershim = isDocker ? await dockerRuntime(settings, metrics.registry) : undefined;
  const place = {
    runtimeEndpoint: DEFAULT_RUNTIME_ENDPOINT,
    criApiVersion,
    defaults: UPSTREAM_DEFAULTS,
    metrics: metrics.registry,
    configure: (options: KubeletOptions) => ({ ...configure(options), ...dockershim?.place }),
    configuration,
    flags,
    serveStream: dockershim?.serveStream,
  };
  const stopping = new AbortController();
  void stopped.then(() => stopping.abort(new Error('the kubelet was stopped')));
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
    if (stopping.signal.aborted) return manager.stop();
    throw error;
  }
  await manager.ready('running');
  manager.watch(() => kubelet.unhealthyReason());
  const stop = await stopped;
  await manager.stop();
  if (stop.endPods) await kubelet.endPods(stop);
  await kubelet.close();
  await dockershim?.close();
}

/** The connection to the runtime, and the configuration and flags that the HTTP API shows. A standalone node has no `configuration`. */
type ServedPlace = KubeletPlace &
  Pick<ServeKubeletApiInput, 'configuration' | 'flags' | 'serveStream' | 'onListening' | 'peerUser'> & {
    metrics: Registry;
    configure?: KubeletSettings['configure'];
  };

type ServedKubelet = {
  /** Like `Kubelet.endPods`. A later stop request may shorten the grace period. */
  endPods: (stop: StopOptions) => Promise<boolean>;
  unhealthyReason: () => string | undefined;
  close: () => Promise<void>;
};

type Serving = { onStop: LocalApiOptions['onStop']; runtimeWait?: RuntimeWait };

/**
 * Starts a kubelet with its local API and its HTTP API, connected to its runtime and to the API server of its cluster, if it has one. If
 * one part fails to start, the others are closed.
 */
export async function serveKubelet(config: NodeConfig, place: ServedPlace, serving: Serving): Promise<ServedKubelet> {
  const undo = new Undo();
  const logger = createLogger({ name: 'api', level: config.log_level });
  const close = async () => {
    const failures = await undo.run();
    if (failures.length > 0)
      logger.error({ error: describeUndoFailures(failures) }, 'the kubelet could not be closed completely');
  };
  try {
    return { ...(await serveApis(config, place, { ...serving, undo, logger })), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function serveApis(
  config: NodeConfig,
  place: ServedPlace,
  { onStop, runtimeWait, undo, logger }: Serving & { undo: Undo; logger: Logger },
): Promise<Omit<ServedKubelet, 'close'>> {
  const {
    configure = (options) => options,
    configuration,
    flags,
    serveStream,
    onListening,
    peerUser,
    ...runtime
  } = place;
  const alone = configure(kubeletOptionsOf(config, runtime));
  const cluster = await clusterOf(alone, { configuration, metrics: place.metrics, logLevel: config.log_level });
  undo.add('close the connection to the API server', () => cluster?.close());
  const options = { ...alone, cluster: cluster?.options };
  const kubelet = await startWhenRuntimeIsUp(config, options, { runtimeWait, logger });
  undo.add('stop the kubelet', () => kubelet.close());
  const api = await serveKubeletApi({
    ...{ kubelet, registry: place.metrics, configuration, flags, serveStream, onListening, peerUser, logger },
    reviewer: cluster?.options.client,
    signedCertificate: await cluster?.signServer(kubelet),
  });
  undo.add('close the HTTP API', () => api.close());
  let isEnding = false;
  const endPods = ({ endApiPods = false, gracePeriodSeconds }: StopOptions): Promise<boolean> => {
    isEnding = true;
    return kubelet.endPods({ ofApi: endApiPods, gracePeriodSeconds });
  };
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
    onStop: (stop) => {
      if (isEnding && stop.endPods) background(logger, 'the pods could not be ended sooner', endPods(stop));
      else onStop(stop);
    },
    logger,
    kubeletApi: api.listener,
    serveStream,
  });
  undo.add('close the local API', () => server.close());
  return { endPods, unhealthyReason: () => kubelet.unhealthyReason };
}

/** Loads the dockershim only if it is needed. */
async function dockerRuntime(settings: KubeletSettings, metrics: Registry): Promise<DockerRuntime> {
  const { startDockerRuntime } = await import('./docker-runtime.ts');
  return startDockerRuntime(settings, metrics);
}

/** Loads the client of a cluster only if it is needed. */
async function clusterOf(
  options: KubeletOptions,
  input: Omit<ClusterConnectionInput, 'options' | 'configuration'> & Pick<ServedPlace, 'configuration'>,
): Promise<ClusterConnection | undefined> {
  const { configuration, ...rest } = input;
  if (configuration === undefined || configuration.kubeconfig === '') return undefined;
  return (await import('./cluster.ts')).connectCluster({ options, configuration, ...rest });
}

/** Starts the kubelet. While it waits for the runtime, `node.sock` and the healthz port report that the runtime is down. */
async function startWhenRuntimeIsUp(
  { apiSocket: socketPath }: NodeConfig,
  options: KubeletOptions,
  { runtimeWait, logger }: { runtimeWait: RuntimeWait | undefined; logger: Logger },
): Promise<Kubelet> {
  if (runtimeWait === undefined) return startKubelet(options);
  let waiting: Awaited<ReturnType<typeof serveWaiting>> | undefined;
  const onWait = async (cause: string) => {
    const reason = `the container runtime is down: ${cause}; the kubelet waits for it`;
    waiting = await serveWaiting({ socketPath, server: options.server, reason, logger });
    await runtimeWait.onWait(cause);
  };
  try {
    return await startKubelet(options, {}, { ...runtimeWait, onWait });
  } finally {
    await waiting?.close();
  }
}
