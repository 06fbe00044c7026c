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

/** Options of the command that are no fields of a configuration. */
export type KubeletFlags = {
  criApiVersion: KubeletOptions['criApiVersion'];
  /** Whether the runtime is a Docker Engine, through a dockershim in this process. */
  isDocker: boolean;
  /** Values of all flags, as `/flagz` shows them. */
  flags: Record<string, string>;
};

/** Where upstream's kubelet looks for a runtime that nobody named. */
const DEFAULT_RUNTIME_ENDPOINT = 'unix:///run/containerd/containerd.sock';

/**
 * `podwright kubelet`: runs pods on a runtime that is not its own, until it is told to stop. Pods go on without it. A runtime
 * that is away when it starts is waited for.
 */
export async function runKubelet(settings: KubeletSettings, line: KubeletFlags): Promise<void> {
  const { criApiVersion, flags, isDocker } = line;
  const { config, configure, configuration } = settings;
  const { stopped, request } = beginDaemon(config);
  await refuseTakenSocket(config.apiSocket); // before it acts on the other's pods
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
  const toldToStop = new AbortController();
  void stopped.then(() => toldToStop.abort(new Error('the kubelet was told to stop')));
  const onWait = async () => {
    await manager.ready('container runtime is down');
    manager.watch(() => undefined); // the kubelet itself is healthy
  };
  let kubelet: ServedKubelet;
  try {
    kubelet = await serveKubelet(config, place, {
      onStop: request,
      runtimeWait: { signal: toldToStop.signal, onWait },
    });
  } catch (error) {
    await dockershim?.close(); // or the process would live on without a kubelet
    if (toldToStop.signal.aborted) return manager.stop();
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

/** Beside where the runtime is: how the kubelet was configured, which the API shows, and a node that nobody configured has none. */
type ServedPlace = KubeletPlace &
  Pick<ServeKubeletApiInput, 'configuration' | 'flags' | 'serveStream' | 'onListening' | 'peerUser'> & {
    metrics: Registry;
    configure?: KubeletSettings['configure'];
  };

type ServedKubelet = {
  /** As `Kubelet.endPods`. A later request to stop that gives the pods less time counts meanwhile. */
  endPods: (stop: StopOptions) => Promise<boolean>;
  unhealthyReason: () => string | undefined;
  close: () => Promise<void>;
};

type Serving = { onStop: LocalApiOptions['onStop']; runtimeWait?: RuntimeWait };

/**
 * A kubelet on a runtime, with its local API and its HTTP API, and with the API server of its cluster where it has one. If one of them
 * cannot be served, nothing goes on.
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

/** A dockershim is loaded where there is a Docker Engine for it. */
async function dockerRuntime(settings: KubeletSettings, metrics: Registry): Promise<DockerRuntime> {
  const { startDockerRuntime } = await import('./docker-runtime.ts');
  return startDockerRuntime(settings, metrics);
}

/** What is of a cluster is loaded where there is one. */
async function clusterOf(
  options: KubeletOptions,
  input: Omit<ClusterConnectionInput, 'options' | 'configuration'> & Pick<ServedPlace, 'configuration'>,
): Promise<ClusterConnection | undefined> {
  const { configuration, ...rest } = input;
  if (configuration === undefined || configuration.kubeconfig === '') return undefined;
  return (await import('./cluster.ts')).connectCluster({ options, configuration, ...rest });
}

/** While the runtime is down, `node.sock` and the healthz port say so. */
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
