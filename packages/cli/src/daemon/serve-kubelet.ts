import {
  BUILD,
  background,
  COMMIT,
  createLogger,
  describeUndoFailures,
  type GraphParts,
  type Logger,
  partsOf,
  startGraph,
  VERSION,
} from '@podwright/base';
import { type Kubelet, type KubeletOptions, type RuntimeWait, startKubelet } from '@podwright/kubelet';
import {
  type ServedKubeletApi,
  type ServeKubeletApiInput,
  serveKubeletApi,
  serveWaiting,
} from '@podwright/kubelet-server';
import { LOCAL_API_VERSION, type LocalApiOptions, type StopOptions, serveLocalApi } from '@podwright/node-api';
import type { NodeConfig } from '../settings/node-config.ts';
import type { ClusterConnection, ClusterConnectionInput } from './cluster.ts';
import { type KubeletPlace, kubeletOptionsOf } from './kubelet-options.ts';
import type { KubeletSettings } from './kubelet-settings.ts';
import type { SharedParts } from './shared-parts.ts';

/**
 * How the kubelet connects to its container runtime, and the configuration and flags reported by its API. A standalone node has no
 * KubeletConfiguration.
 */
export type ServedPlace = KubeletPlace &
  Pick<ServeKubeletApiInput, 'configuration' | 'flags' | 'serveStream' | 'onListening' | 'peerUser'> &
  SharedParts & {
    configure?: KubeletSettings['configure'];
    /** The connection to a standalone node's API, which is closed after the kubelet. */
    standaloneApi?: ClusterConnection;
  };

export type ServedKubelet = {
  /** Terminates the node's pods, like `Kubelet.endPods`. Calling it again can shorten the grace period. */
  endPods: (stop: StopOptions) => Promise<boolean>;
  unhealthyReason: () => string | undefined;
  close: () => Promise<void>;
};

export type Serving = { onStop: LocalApiOptions['onStop']; runtimeWait?: RuntimeWait };

/** The started components of a kubelet's process: the kubelet and its APIs. */
export type ServedGraph = {
  cluster: ClusterConnection | undefined;
  options: KubeletOptions;
  kubelet: Kubelet;
  kubeletApi: ServedKubeletApi;
  ending: PodEnding;
  localApi: { close: () => Promise<void> };
};

/** `endPods` terminates the pods; `isEnding` returns whether that has begun. */
type PodEnding = { isEnding: () => boolean; endPods: ServedKubelet['endPods'] };

/**
 * Starts a kubelet on a container runtime, with its API on a Unix socket, its HTTP API and, if it belongs to a cluster, a connection to the
 * API server. If any part fails to start, the others are closed and the promise rejects.
 */
export async function serveKubelet(config: NodeConfig, place: ServedPlace, serving: Serving): Promise<ServedKubelet> {
  const logger = createLogger({ name: 'api', level: config.log_level });
  const { parts, close } = await startGraph(servedGraph(config, place, { ...serving, logger }), (failures) =>
    logger.error({ error: describeUndoFailures(failures) }, 'the kubelet could not be closed completely'),
  );
  const { kubelet, ending } = parts;
  return { endPods: ending.endPods, unhealthyReason: () => kubelet.unhealthyReason, close };
}

const { part } = partsOf<ServedGraph>();

export function servedGraph(
  config: NodeConfig,
  place: ServedPlace,
  { onStop, runtimeWait, logger }: Serving & { logger: Logger },
): GraphParts<ServedGraph> {
  const {
    configure = (options) => options,
    configuration,
    flags,
    onListening,
    peerUser,
    standaloneApi,
    ...runtime
  } = place;
  const { serveStream, countBuffer, ...kubeletPlace } = runtime;
  const { metrics } = place;
  const alone = configure(kubeletOptionsOf(config, kubeletPlace));
  return {
    cluster: part([], async (_, undo) => {
      const cluster = standaloneApi ?? (await clusterOf(alone, { configuration, metrics, logLevel: config.log_level }));
      undo.add('close the connection to the API server', () => cluster?.close());
      return cluster;
    }),
    options: part(['cluster'], ({ cluster }) => ({ ...alone, cluster: cluster?.options })),
    kubelet: part(['options'], async ({ options }, undo) => {
      const kubelet = await startWhenRuntimeIsUp(config, options, { runtimeWait, logger });
      undo.add('stop the kubelet', () => kubelet.close());
      return kubelet;
    }),
    kubeletApi: part(['cluster', 'kubelet'], async ({ cluster, kubelet }, undo) => {
      const api = await serveKubeletApi({
        ...{
          kubelet,
          registry: metrics,
          configuration,
          flags,
          serveStream,
          onListening,
          peerUser,
          countBuffer,
          logger,
        },
        reviewer: cluster?.options.client,
        signedCertificate: await cluster?.signServer(kubelet),
      });
      undo.add('close the HTTP API', () => api.close());
      cluster?.reachKubelet?.(api.serveConnection);
      undo.add('disconnect the API server from the kubelet', () => cluster?.reachKubelet?.(undefined));
      return api;
    }),
    ending: part(['kubelet'], ({ kubelet }) => podEnding(kubelet)),
    localApi: part(['cluster', 'options', 'kubelet', 'kubeletApi', 'ending'], async (required, undo) => {
      const { cluster, options, kubelet, kubeletApi, ending } = required;
      const server = await serveLocalApi({
        socketPath: config.apiSocket,
        kubelet,
        info: nodeInfo(config, options),
        onStop: (stop) => {
          if (ending.isEnding() && stop.endPods)
            background(logger, 'the pods could not be ended sooner', ending.endPods(stop));
          else onStop(stop);
        },
        logger,
        kubernetesApi: cluster?.kubernetesApi,
        kubeletApi: kubeletApi.listener,
        serveStream,
        countBuffer,
      });
      undo.add('close the local API', () => server.close());
      return server;
    }),
  };
}

function podEnding(kubelet: Kubelet): PodEnding {
  let isEnding = false;
  return {
    isEnding: () => isEnding,
    endPods: ({ endApiPods = false, gracePeriodSeconds }) => {
      isEnding = true;
      const ofApi = endApiPods || kubelet.options.cluster?.isOwnApi === true;
      return kubelet.endPods({ ofApi, gracePeriodSeconds });
    },
  };
}

function nodeInfo(config: NodeConfig, options: KubeletOptions): LocalApiOptions['info'] {
  return {
    name: options.nodeName,
    version: VERSION,
    commit: COMMIT,
    build: BUILD,
    localApiVersion: LOCAL_API_VERSION,
    startedAt: new Date().toISOString(),
    rootDir: config.root,
    stateDir: config.state,
    manifestDir: options.manifestDir,
    podLogsDir: options.podLogsDir,
    ...(options.cluster?.isOwnApi && { kubernetesApi: true as const }),
  };
}

/** Connects to the cluster if the kubelet belongs to one. Loads the code for this only if needed. */
async function clusterOf(
  options: KubeletOptions,
  input: Omit<ClusterConnectionInput, 'options' | 'configuration'> & Pick<ServedPlace, 'configuration'>,
): Promise<ClusterConnection | undefined> {
  const { configuration, ...rest } = input;
  if (configuration === undefined || configuration.kubeconfig === '') return undefined;
  return (await import('./cluster.ts')).connectCluster({ options, configuration, ...rest });
}

/** Starts the kubelet once the container runtime is up. Until then, `node.sock` and the healthz port report that the runtime is down. */
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
