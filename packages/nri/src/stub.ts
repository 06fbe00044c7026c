import { connect, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { type Logger, PodwrightError, raceAbort, silentLogger, withTimeout, wrapError } from '@podwright/base';
import { TtrpcConnection, type TtrpcHandlers, TtrpcServer } from '@podwright/ttrpc';
import { EVENT_NAMES, EVENT_NUMBERS, type EventName, eventMask } from './events.ts';
import type { Container, PodSandbox } from './gen/nri/v1alpha1/container_pb.js';
import { Plugin, Runtime } from './gen/nri/v1alpha1/services_pb.js';
import { REGISTRATION_TIMEOUT_MS } from './limits.ts';
import { Multiplexer, PLUGIN_SERVICE, RUNTIME_SERVICE } from './multiplexer.ts';
import { NRI_VERSION } from './nri-version.ts';
import { checkPluginName } from './plugin-name.ts';

/** The socket on which container runtimes accept plugins. */
export const DEFAULT_SOCKET = '/var/run/nri/nri.sock';

type Methods = typeof Plugin.method;
type Response<M extends keyof Methods> = MessageInitShape<Methods[M]['output']>;
type EventHandler<E extends EventName> = (
  request: MessageShape<Methods[E]['input']>,
  signal: AbortSignal,
) => Promise<Response<E> | undefined> | Response<E> | undefined;

/** Information that the container runtime provides about itself. Timeouts are in milliseconds. */
export type RuntimeFacts = {
  /** Content of the plugin's configuration file; '' if it has none. */
  config: string;
  runtimeName: string;
  runtimeVersion: string;
  /** The runtime's NRI version; '' before 0.12. */
  nriVersion: string;
  requestTimeoutMs: number;
};

/** A plugin's handlers. The plugin subscribes to the events it has handlers for. If a handler throws, the runtime's request fails. */
export type PluginHandlers = { [E in EventName]?: EventHandler<E> } & {
  /** Called before all other handlers. If it throws, the runtime closes the connection. */
  configure?: (facts: RuntimeFacts) => Promise<void> | void;
  /** Called with all existing pods and containers, after `configure`. Returns updates to containers. */
  synchronize?: (
    pods: PodSandbox[],
    containers: Container[],
  ) => Promise<Response<'synchronize'>['update']> | Response<'synchronize'>['update'];
  /** Called when the container runtime is stopping. */
  shutdown?: () => Promise<void> | void;
};

export type PluginOptions = {
  /** Name of the plugin. Default: the name provided by the runtime that started it. */
  name?: string;
  /** Two digits; plugins receive events in ascending order. Default: the index provided by the runtime that started the plugin. */
  index?: string;
  /** Path of the runtime's socket. Default: the connection provided by the runtime that started the plugin, otherwise `DEFAULT_SOCKET`. */
  socket?: string;
  handlers: PluginHandlers;
  logger?: Logger;
};

/** A plugin connected to a container runtime. */
export type RunningPlugin = {
  /** Resolves when either side closes the connection. */
  readonly closed: Promise<void>;
  /** Updates the resources of existing containers. Returns the updates that failed. */
  update(
    updates: MessageInitShape<typeof Runtime.method.updateContainers.input>['update'],
  ): Promise<MessageShape<typeof Runtime.method.updateContainers.output>['failed']>;
  close(): void;
};

/**
 * Connects a plugin to a container runtime and registers it. Resolves once the runtime has accepted its name; from then on, the handlers
 * may be called. Throws `unavailable` if no runtime is listening, and `invalid_argument` for a malformed name.
 */
export async function runPlugin(options: PluginOptions): Promise<RunningPlugin> {
  const { handlers, logger = silentLogger } = options;
  const { index, base } = checkPluginName({
    index: options.index ?? process.env.NRI_PLUGIN_IDX ?? '',
    base: options.name ?? process.env.NRI_PLUGIN_NAME ?? '',
  });
  using bound = withTimeout(undefined, REGISTRATION_TIMEOUT_MS, `register plugin ${index}-${base}`);
  const multiplexer = new Multiplexer(await openConnection(options.socket, bound));
  const server = new TtrpcServer({ logger });
  server.add(Plugin, serviceOf(handlers));
  server.serve(multiplexer.open(PLUGIN_SERVICE));
  const connection = new TtrpcConnection(multiplexer.open(RUNTIME_SERVICE));
  const runtime = connection.client(Runtime);
  try {
    const registration = { pluginName: base, pluginIdx: index, nriVersion: NRI_VERSION };
    await runtime.registerPlugin(registration, { signal: bound });
  } catch (error) {
    multiplexer.close();
    throw error;
  }
  return {
    closed: connection.closed,
    update: async (update = []) => (await runtime.updateContainers({ update })).failed,
    close: () => multiplexer.close(),
  };
}

/** Opens the connection passed by the runtime as a file descriptor, or connects to the socket. */
async function openConnection(path: string | undefined, signal: AbortSignal): Promise<Duplex> {
  const passed = process.env.NRI_PLUGIN_SOCKET;
  if (path === undefined && passed !== undefined) return new Socket({ fd: Number(passed) });
  const socketPath = path ?? DEFAULT_SOCKET;
  const socket = connect(socketPath);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.once('connect', resolve).once('error', reject);
  try {
    await raceAbort(promise, signal);
  } catch (error) {
    socket.destroy();
    throw wrapError(`connect to ${socketPath}`, error, 'unavailable');
  }
  return socket;
}

function serviceOf(handlers: PluginHandlers): TtrpcHandlers<typeof Plugin> {
  const pods: PodSandbox[] = [];
  const containers: Container[] = [];
  const handled = EVENT_NAMES.filter((event) => handlers[event] !== undefined);
  const on = (event: EventName) => async (request: never, signal: AbortSignal) =>
    ((await (handlers[event] as EventHandler<never> | undefined)?.(request, signal)) ?? {}) as never;
  const events = Object.fromEntries(EVENT_NAMES.map((event) => [event, on(event)])) as unknown as Pick<
    TtrpcHandlers<typeof Plugin>,
    EventName
  >;
  return {
    ...events,
    async configure({ config, runtimeName, runtimeVersion, nriVersion, requestTimeout }) {
      const facts = { config, runtimeName, runtimeVersion, nriVersion, requestTimeoutMs: Number(requestTimeout) };
      await handlers.configure?.(facts);
      // refuse to register, because an empty mask would subscribe to all events
      if (handled.length === 0) throw new PodwrightError('failed_precondition', 'the plugin handles no event');
      return { events: eventMask(handled) };
    },
    async synchronize(request) {
      pods.push(...request.pods);
      containers.push(...request.containers);
      if (request.more) return { more: true };
      return { update: (await handlers.synchronize?.(pods.splice(0), containers.splice(0))) ?? [] };
    },
    async shutdown() {
      await handlers.shutdown?.();
      return {};
    },
    /** Runtimes before version 0.12 send most events as StateChange instead of calling the event's own RPC. */
    async stateChange({ event, pod, container }, signal) {
      const name = EVENT_NAMES.find((one) => EVENT_NUMBERS[one] === event);
      if (name !== undefined) await on(name)({ pod, container } as never, signal);
      return {};
    },
  };
}
