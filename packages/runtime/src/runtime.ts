import { hostname } from 'node:os';
import {
  counted,
  describeUndoFailures,
  errorMessage,
  type Logger,
  noFailpoint,
  PodwrightError,
  raceAbort,
  revokeTraversal,
  SharedWork,
  SpanStore,
  Tracer,
  Undo,
  withTimeout,
} from '@podwright/base';
import { createCriServer, createSpanExporter, ImageTransfers, type SpanExporter, Traces, traces } from '@podwright/cri';
import { handleService, type ListeningServer } from '@podwright/grpc';
import { claimFormat, withoutLinks } from '@podwright/host';
import { openStreamingServer, type StreamingServer, type UpgradingClient } from '@podwright/streaming';
import { loadSystem, lockDirectory, lockDirectoryItself, newDirectoriesRemover } from '@podwright/system';
import { openBuiltins } from './builtins.ts';
import { ContainerService } from './containers/container-service.ts';
import { expedited, imageServiceHandlers, runtimeServiceHandlers } from './cri/handlers.ts';
import { imageTransfers } from './cri/image/image-transfers.ts';
import { StreamUrls } from './cri/services/stream-urls.ts';
import { readTlsFiles } from './cri/services/tls-files.ts';
import { type FastPaths, fastPathsOf } from './fast-paths.ts';
import { RcuExpediting } from './host/rcu-expediting.ts';
import { removeLeftovers } from './leftovers.ts';
import { NriHooks } from './nri/nri-hooks.ts';
import type { RuntimeOptions } from './options.ts';
import { RUNTIME_FORMAT } from './record-format.ts';
import { RecordClock } from './records/ids.ts';
import { LifecycleEvents } from './records/lifecycle-events.ts';
import type { GivenParts, RuntimeParts, RuntimeRecords } from './runtime-parts.ts';
import { openRecords } from './runtime-records.ts';
import { ReadySandboxes } from './sandbox/ready-sandboxes.ts';
import { SandboxService } from './sandbox/sandbox-service.ts';
import { CLOSE_GRACE_MS } from './time-limits.ts';

/** A running container runtime. */
export type RuntimeHandle = {
  /** Address of the CRI socket: `unix://` followed by its path. */
  readonly endpoint: string;
  /** The port of the TCP listener, if there is one. */
  readonly tcpPort: number | undefined;
  /** `StreamingServer.serve`, for a kubelet in the same process, so that it needs no extra connection for streams. */
  serveStream(client: UpgradingClient, url: string): boolean;
  /**
   * Stops serving. Pods keep running, and are recovered at the next start. If `removeHostState` is set, also removes the container
   * runtime's own state from the host (bridge, rules, mounts, cgroup). Nothing is removed if there are pods; if something cannot be
   * removed, the rest still is. In both cases, rejects with `failed_precondition`, listing what is left. The container runtime is closed in
   * any case.
   */
  close(options?: { removeHostState?: boolean }): Promise<void>;
  /** Returns true if there are no pods. Must not be called after `close`. */
  isEmpty(): boolean;
};

/**
 * Starts a container runtime: recovers the pods from before a restart, then serves the CRI on the socket. Throws `already_exists` if this
 * root directory or socket is in use by another container runtime, and `failed_precondition` if the host does not meet a requirement or the
 * records were written by a newer version of Podwright.
 */
export function startRuntime(options: RuntimeOptions): Promise<RuntimeHandle> {
  return startRuntimeOf(options, { openParts: openBuiltins, fastPaths: fastPathsOf(options) });
}

/** Like `startRuntime`, but with components from `openParts` instead of the built-in ones, and with any selection of fast paths. */
export async function startRuntimeOf(
  given: RuntimeOptions,
  composition: {
    openParts: (options: RuntimeOptions, given: GivenParts) => Promise<RuntimeParts>;
    fastPaths: FastPaths;
  },
): Promise<RuntimeHandle> {
  const { openParts, fastPaths } = composition;
  // mounts under these directories are looked up by path in mountinfo, whose paths contain no symbolic links
  const options = { ...given, root: withoutLinks(given.root), state: withoutLinks(given.state) };
  const undo = new Undo();
  try {
    const unlockRoot = lockDirectory(options.root, lockRefusal('root', options));
    undo.add('unlock the root directory', unlockRoot);
    const unlockState = lockDirectoryItself(options.state, lockRefusal('state', options));
    undo.add('unlock the state directory', unlockState);
    const unlock = () => {
      unlockState();
      unlockRoot();
    };
    undo.add('remove new directories', newDirectoriesRemover(loadSystem(), options.state));
    claimFormat(options.root, RUNTIME_FORMAT);
    const rcu = new RcuExpediting({ ...options, enabled: fastPaths.expediteRcu });
    undo.add('put the RCU switch back', () => rcu.close());
    const records = openRecords(options);
    undo.add('close the records', () => void records.database.close());
    const spans = new SpanStore(TRACE_BOUNDS);
    const exporter = exporterOf(options);
    undo.add('send the last spans', () => exporter.close());
    const tracer = new Tracer((span) => {
      spans.add(span);
      exporter.add(span);
    });
    const parts = await openParts(options, { records, trace: tracer.span, fastPaths });
    undo.add('close the parts', () => parts.close());
    revokeTraversal(options.state); // the trials of OCI runtimes made it traversable
    const services = compose(options, { records, parts, trace: tracer.span, fastPaths });
    await recover({ records, parts, ...services, logger: options.logger });
    await parts.nriPlugins?.start(() => services.nri.attach(services.containers));
    const streaming = await openStreaming(options);
    undo.add('close the streaming server', () => streaming.close());
    const server = await serve(options, { parts, streaming, rcu, tracer, spans, ...services });
    services.ready.begin({ hadPods: records.sandboxes.list().some(({ config }) => config.network === 'pod') });
    return handleOf({ server, streaming, records, parts, rcu, exporter, ...services, unlock });
  } catch (error) {
    const failures = await undo.run();
    if (failures.length > 0)
      options.logger.warn({ error: describeUndoFailures(failures) }, 'the start left something behind');
    throw error;
  }
}

type Tracing = { tracer: Tracer; spans: SpanStore };

type Services = {
  sandboxes: SandboxService;
  ready: ReadySandboxes;
  containers: ContainerService;
  events: LifecycleEvents;
  nri: NriHooks;
  work: SharedWork;
  clock: RecordClock;
};

function compose(
  options: RuntimeOptions,
  { records, parts, trace, fastPaths }: GivenParts & { parts: RuntimeParts },
): Services {
  const clock = new RecordClock();
  const work = new SharedWork();
  const events = new LifecycleEvents({ ...records, clock });
  const failpoint = options.failpoint ?? noFailpoint;
  const nri = new NriHooks({
    ...records,
    adaptation: parts.nriPlugins?.adaptation,
    namespacesOf: (sandbox) => parts.controllers.of(sandbox).environment(sandbox).namespaces,
    specOf: (id) => parts.files.spec(id),
  });
  const shared = { ...parts, events, nri, work, clock, failpoint, trace, logger: options.logger };
  const containers = new ContainerService({ ...shared, table: records.containers, sandboxes: records.sandboxes });
  const ready = new ReadySandboxes({
    ...{ ...parts, logger: options.logger, metrics: options.metrics },
    most: fastPaths.readySandboxes,
    idleMs: () => work.idleMs,
  });
  const sandboxes = new SandboxService({ ...shared, table: records.sandboxes, containers, ready });
  for (const controller of parts.controllers.all()) {
    controller.onLost((id, reason) => {
      sandboxes.lost(id, reason).catch((error) => {
        options.logger.error({ sandbox: id, error: errorMessage(error) }, 'a lost sandbox could not be ended');
      });
    });
  }
  return { sandboxes, ready, containers, events, nri, work, clock };
}

/**
 * Recovers containers first, because stopping a sandbox depends on its containers' exits, then sandboxes. Leftovers without a record are
 * removed last.
 */
async function recover(
  found: Pick<Services, 'sandboxes' | 'containers'> & { records: RuntimeRecords; parts: RuntimeParts; logger: Logger },
): Promise<void> {
  const { records, parts, logger } = found;
  await found.containers.recover();
  await found.sandboxes.recover();
  await removeLeftovers({
    ...parts,
    sandboxes: records.sandboxes,
    containers: records.containers,
    controllers: parts.controllers.all(),
    logger,
  });
}

async function openStreaming({ streaming, logger, countBuffer }: RuntimeOptions): Promise<StreamingServer> {
  const tls = await readTlsFiles(streaming.tls);
  return await openStreamingServer({ ...streaming, tls, logger, countBuffer });
}

async function serve(
  { socket, tcp, logger, metrics }: RuntimeOptions,
  running: Services & { parts: RuntimeParts; streaming: StreamingServer; rcu: RcuExpediting } & Tracing,
): Promise<ListeningServer> {
  const { parts, streaming, rcu, tracer, spans, ...services } = running;
  const urls = new StreamUrls({ ...parts, ...services, server: streaming });
  const all = { ...parts, ...services, streaming: urls, logger };
  return await createCriServer({
    socket,
    tcp: tcp && { ...tcp, tls: await readTlsFiles(tcp.tls) },
    handlers: {
      runtime: expedited(runtimeServiceHandlers(all), (work) => rcu.during(work)),
      image: imageServiceHandlers(all),
    },
    extraServices: [handleService(ImageTransfers, imageTransfers(all)), handleService(Traces, traces(spans, tracer))],
    logger,
    metrics,
    tracer,
  });
}

function handleOf(
  running: Pick<Services, 'containers' | 'ready' | 'work'> & {
    server: ListeningServer;
    streaming: StreamingServer;
    records: RuntimeRecords;
    parts: RuntimeParts;
    rcu: RcuExpediting;
    exporter: SpanExporter;
    unlock: () => void;
  },
): RuntimeHandle {
  const { server, streaming, records, parts, rcu, exporter, containers, ready, work, unlock } = running;
  const close = async (removeHostState: boolean) => {
    if (removeHostState) await settle(work);
    await Promise.all([server.close(), streaming.close()]);
    containers.startCleanUp();
    if (!(await settle(work))) {
      work.abandon();
      await settle(work);
    }
    await ready.close();
    containers.close();
    const leftover = removeHostState ? await removeHostStateOf(running) : undefined;
    await parts.close();
    await exporter.close();
    records.database.close();
    rcu.close();
    unlock();
    if (leftover !== undefined) {
      throw new PodwrightError('failed_precondition', `remove what the runtime made: ${leftover}`);
    }
  };
  let closing: Promise<void> | undefined;
  return {
    endpoint: server.endpoint,
    tcpPort: server.tcpPort,
    serveStream: (client, url) => streaming.serve(client, url),
    isEmpty: () => records.sandboxes.list().length === 0,
    close: ({ removeHostState = false } = {}) => (closing ??= close(removeHostState)),
  };
}

/**
 * Removes the container runtime's state from the host. Returns a user-facing description of what could not be removed; `undefined` if
 * everything was removed.
 */
async function removeHostStateOf(of: { records: RuntimeRecords; parts: RuntimeParts }): Promise<string | undefined> {
  const pods = of.records.sandboxes.list();
  if (pods.length > 0) return `there are pods (${counted(pods.length, 'sandbox', 'sandboxes')}); remove them first`;
  return await of.parts.removeHostState().then(() => undefined, errorMessage);
}

/** Waits for operations in progress. Returns true if all of them finished within the grace period. */
async function settle(work: SharedWork): Promise<boolean> {
  using grace = withTimeout(undefined, CLOSE_GRACE_MS, 'close the runtime');
  return await raceAbort(work.idle(), grace).then(
    () => true,
    () => false,
  );
}

function exporterOf({ tracing, logger }: RuntimeOptions): SpanExporter {
  const resource = { 'service.name': 'podwright-runtime', 'host.name': hostname() };
  return createSpanExporter(tracing, { resource, logger });
}

/**
 * Returns the error message for a root or state directory that is in use by another container runtime: the two would remove each other's
 * pods.
 */
function lockRefusal(kind: 'root' | 'state', { [kind]: directory }: RuntimeOptions): string {
  return `start a runtime in ${directory}: another node or runtime has this ${kind} directory; stop it, or use another ${kind}`;
}

/**
 * Maximum number of stored traces and of spans per trace. A span takes about 300 bytes, so clients that trace every call cost a few MB.
 * Starting a pod with two containers and pulling an image with ten layers takes about sixty spans.
 */
const TRACE_BOUNDS = { traces: 200, spansPerTrace: 100 };
