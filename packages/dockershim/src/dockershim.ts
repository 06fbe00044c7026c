import { writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Logger } from '@podwright/base';
import { noFailpoint, PodwrightError, SpanStore, Tracer, Undo, wrapError } from '@podwright/base';
import {
  createCriServer,
  createSpanExporter,
  ImageService,
  ImageTransfers,
  type RuntimeHandlers,
  RuntimeService,
  type SpanExporter,
  Traces,
  traces,
} from '@podwright/cri';
import { handleService, type ListeningServer } from '@podwright/grpc';
import { type CgroupHierarchy, cgroupDirectory, createCgroup, discoverCgroups } from '@podwright/host';
import { openStreamingServer, type StreamingServer, type UpgradingClient } from '@podwright/streaming';
import { createPortDialer, loadSystem, lockDirectory } from '@podwright/system';
import { afterStartup } from './after-startup.ts';
import { CheckpointStore } from './checkpoints/checkpoint-store.ts';
import { containerHandlers } from './containers/container-handlers.ts';
import { engineAt } from './engine/engine.ts';
import { isCriLogDriver } from './engine/log-driver.ts';
import { EngineStartup } from './engine-startup.ts';
import { eventHandlers } from './events/event-handlers.ts';
import { imageEnsurer } from './images/ensure-image.ts';
import { imageHandlers } from './images/image-handlers.ts';
import { TRACE_BOUNDS } from './limits.ts';
import { CniPlugin, type CniPluginOptions } from './network/cni-plugin.ts';
import { DockerBridge } from './network/docker-bridge.ts';
import type { NetworkPlugin, NetworkPluginSettings } from './network/network-plugin.ts';
import type { DockershimOptions } from './options.ts';
import { cgroupDriverOf } from './runtime/cgroup-driver.ts';
import { EngineFacts } from './runtime/engine-facts.ts';
import { LegacyLogs } from './runtime/legacy-logs.ts';
import { runtimeHandlers } from './runtime/runtime-handlers.ts';
import { recoverSandboxes } from './sandbox/recover-sandboxes.ts';
import { type SandboxDependencies, sandboxDependencies } from './sandbox/sandbox-dependencies.ts';
import { sandboxHandlers } from './sandbox/sandbox-handlers.ts';
import type { DockershimServices } from './services.ts';
import { statisticsHandlers } from './statistics/statistics-handlers.ts';
import { streamHandlers } from './streams/stream-handlers.ts';
import { imageTransfers } from './transfers/image-transfers.ts';

/** A running dockershim. */
export type DockershimHandle = {
  /** URL of the CRI socket (`unix://PATH`). */
  readonly endpoint: string;
  /** Reads container logs that the Engine does not write to files, for a kubelet in the same process. */
  readonly legacyLogs: LegacyLogs;
  /** `StreamingServer.serve`. Saves a kubelet in the same process an extra connection per stream. */
  serveStream(client: UpgradingClient, url: string): boolean;
  /** Stops serving after a grace period for in-flight calls. Containers keep running and are picked up by the next start. */
  close(): Promise<void>;
};

/**
 * Starts a dockershim: recovers the sandboxes of an earlier one, then serves the CRI on the socket. While the Engine is unreachable, Status
 * reports that, and other calls fail with `unavailable`. Throws `already_exists` if another dockershim uses the root directory or socket,
 * and `failed_precondition` if the Engine is too old or does not use the requested cgroup driver.
 */
export async function startDockershim(options: DockershimOptions): Promise<DockershimHandle> {
  const undo = new Undo();
  try {
    undo.add('unlock the root directory', lockRoot(options.root));
    if (options.runtimeCgroups !== undefined) await moveToCgroup(options.runtimeCgroups);
    const engine = engineAt(options.dockerSocket);
    undo.add('close the connections to the Engine', () => engine.close());
    const { logger, countBuffer, failpoint = noFailpoint } = options;
    const [network, cgroups] = await Promise.all([openNetworkPlugin(options), discoverCgroups()]);
    const services: DockershimServices = { engine, network, options, logger, failpoint };
    const facts = new EngineFacts(engine);
    const checkpoints = new CheckpointStore(join(options.root, 'sandboxes'), logger);
    const containers = containerHandlers(services, { facts, filesOf: (id) => checkpoints.filesOf(id) });
    const sandboxes = sandboxesOf(services, { containers, checkpoints });
    const stopped = new AbortController();
    const startup = new EngineStartup(() => startUp({ ...services, facts, sandboxes }, stopped.signal), logger);
    undo.add('stop waiting for the Engine', () => {
      stopped.abort(new PodwrightError('unavailable', 'the dockershim is being closed'));
      return startup.stop();
    });
    await startup.start();
    const streaming = await openStreamingServer({ ...options.streaming, logger, countBuffer });
    undo.add('close the streaming server', () => streaming.close());
    const exporter = exporterOf(options);
    undo.add('send the last spans', () => exporter.close());
    const server = await serve({ ...services, facts, cgroups, containers, sandboxes, startup, streaming, exporter });
    undo.add('stop serving', () => server.close());
    let closing: Promise<void> | undefined;
    return {
      endpoint: server.endpoint,
      legacyLogs: new LegacyLogs(engine),
      serveStream: (client, url) => streaming.serve(client, url),
      close: () => (closing ??= undo.run().then(() => undefined)),
    };
  } catch (error) {
    await undo.run();
    throw error;
  }
}

type Running = DockershimServices & {
  facts: EngineFacts;
  cgroups: CgroupHierarchy;
  containers: ReturnType<typeof containerHandlers>;
  sandboxes: SandboxDependencies;
  startup: EngineStartup;
  streaming: StreamingServer;
  exporter: SpanExporter;
};

/** Performs the part of startup that requires the Engine. Must complete before any call is served. */
async function startUp(
  { facts, sandboxes, options, logger }: Pick<Running, 'facts' | 'sandboxes' | 'options' | 'logger'>,
  signal: AbortSignal,
): Promise<void> {
  const { Version: version } = await facts.read(signal);
  const info = await facts.info(signal);
  const cgroupDriver = cgroupDriverOf(info, options.cgroupDriver);
  const { LoggingDriver: logDriver } = info;
  logger.info({ version, cgroupDriver, logDriver }, 'Docker Engine');
  if (!isCriLogDriver(logDriver))
    logger.warn({ logDriver }, 'the log driver writes no files for kubelets: logs are read through the Engine');
  await recoverSandboxes(sandboxes, signal);
}

function sandboxesOf(
  services: DockershimServices,
  { containers, checkpoints }: Pick<Running, 'containers'> & { checkpoints: CheckpointStore },
): SandboxDependencies {
  return sandboxDependencies({
    services,
    checkpoints,
    ensureImage: imageEnsurer(services),
    removeContainer: async (containerId, signal) => {
      const call = { signal, service: 'runtime.v1.RuntimeService', method: 'RemoveContainer' };
      await containers.removeContainer({ $typeName: 'runtime.v1.RemoveContainerRequest', containerId }, call);
    },
  });
}

/** Returns the CRI call handlers, except those for the container runtime itself (Version, Status, …). */
function runtimeVerbs(running: Omit<Running, 'exporter'>): Partial<RuntimeHandlers> {
  const { engine, containers, sandboxes, streaming, logger } = running;
  const pods = sandboxHandlers(sandboxes);
  return {
    ...pods,
    ...containers,
    ...eventHandlers(running, { ...pods, ...containers }),
    ...statisticsHandlers(running),
    ...streamHandlers({ engine, server: streaming, dial: createPortDialer({ system: loadSystem(), logger }) }),
  };
}

async function serve({ exporter, ...services }: Running): Promise<ListeningServer> {
  const { options, logger, startup } = services;
  const spans = new SpanStore(TRACE_BOUNDS);
  const tracer = new Tracer((span) => {
    spans.add(span);
    exporter.add(span);
  });
  return await createCriServer({
    socket: options.socket,
    handlers: {
      runtime: {
        ...runtimeHandlers({ ...services, whenStarted: (signal) => startup.done(signal) }),
        ...afterStartup(RuntimeService, runtimeVerbs(services), startup),
      },
      image: afterStartup(ImageService, imageHandlers(services), startup),
    },
    extraServices: [
      handleService(Traces, traces(spans, tracer)),
      handleService(ImageTransfers, afterStartup(ImageTransfers, imageTransfers(services.engine), startup)),
    ],
    logger,
    metrics: options.metrics,
    tracer,
  });
}

function exporterOf({ tracing, logger }: DockershimOptions): SpanExporter {
  const resource = { 'service.name': 'podwright-dockershim', 'host.name': hostname() };
  return createSpanExporter(tracing, { resource, logger });
}

/** Ensures that only one dockershim uses a root directory; two would remove each other's pods. */
function lockRoot(root: string): () => void {
  const refusal = `start a dockershim in ${root}: another one uses this root directory; stop it, or use another root`;
  return lockDirectory(root, refusal);
}

async function openNetworkPlugin({
  network,
  logger,
}: {
  network: { plugin: 'cni' | 'none' } & CniPluginOptions['network'] & NetworkPluginSettings;
  logger: Logger;
}): Promise<NetworkPlugin> {
  const plugin = network.plugin === 'cni' ? new CniPlugin({ network, logger }) : new DockerBridge();
  await plugin.init(network);
  return plugin;
}

/** Moves this process to a cgroup on the host, creating the cgroup if needed. */
async function moveToCgroup(path: string): Promise<void> {
  try {
    const hierarchy = await discoverCgroups();
    await createCgroup(hierarchy, path);
    for (const tree of hierarchy.trees)
      await writeFile(join(cgroupDirectory(tree, path), 'cgroup.procs'), String(process.pid));
  } catch (error) {
    throw wrapError(`move the dockershim to cgroup ${path} (runtime_cgroups)`, error, 'failed_precondition');
  }
}
