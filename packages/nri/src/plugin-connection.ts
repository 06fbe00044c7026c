import type { Duplex } from 'node:stream';
import { type MessageShape, toBinary } from '@bufbuild/protobuf';
import {
  errorCode,
  errorMessage,
  ignoreFailure,
  isDeadlineExceeded,
  type Logger,
  PodwrightError,
  raceAbort,
  withTimeout,
} from '@podwright/base';
import { type TtrpcClient, TtrpcConnection, TtrpcServer } from '@podwright/ttrpc';
import type { EncodedEvent } from './encoded-event.ts';
import { EVENT_NUMBERS, type EventName, eventsOfMask } from './events.ts';
import type { ContainerUpdate } from './gen/nri/v1alpha1/adjustment_pb.js';
import { type Container, ContainerSchema, type PodSandbox, PodSandboxSchema } from './gen/nri/v1alpha1/container_pb.js';
import { Plugin, Runtime } from './gen/nri/v1alpha1/services_pb.js';
import { SYNCHRONIZE_BYTES } from './limits.ts';
import { Multiplexer, PLUGIN_SERVICE, RUNTIME_SERVICE } from './multiplexer.ts';
import { NRI_VERSION } from './nri-version.ts';
import { pages } from './pages.ts';
import { checkPluginName, fullName, type PluginName } from './plugin-name.ts';

type Methods = typeof Plugin.method;
export type EventResponse<E extends EventName> = MessageShape<Methods[E]['output']>;

/** Events for which plugins built before version 0.12 have no RPC; they receive StateChange instead. */
const STATE_CHANGES: ReadonlySet<EventName> = new Set([
  'runPodSandbox',
  'stopPodSandbox',
  'removePodSandbox',
  'postCreateContainer',
  'startContainer',
  'postStartContainer',
  'postUpdateContainer',
  'removeContainer',
  'postUpdatePodSandbox',
]);

/** Newer events, whose RPCs a plugin may lack even if it has subscribed to all events. */
const OPTIONAL: ReadonlySet<EventName> = new Set(['updatePodSandbox', 'postUpdatePodSandbox']);

export type PluginTimeouts = { registrationTimeoutMs: number; requestTimeoutMs: number };

export type PluginConnectionOptions = {
  stream: Duplex;
  runtime: { name: string; version: string };
  timeouts: PluginTimeouts;
  /** Name of a pre-installed plugin. Other plugins report their names when they register. */
  name?: PluginName;
  /** Content of the plugin's configuration file. */
  config?: string;
  /** Handles UpdateContainers. Returns the updates that failed. */
  onUpdate: (updates: ContainerUpdate[]) => Promise<ContainerUpdate[]>;
  logger: Logger;
};

/** A connected plugin, as seen by the container runtime. */
export class PluginConnection {
  readonly #options: PluginConnectionOptions;
  readonly #multiplexer: Multiplexer;
  readonly #connection: TtrpcConnection;
  readonly #plugin: TtrpcClient<typeof Plugin>;
  readonly #registered = Promise.withResolvers<PluginName>();
  /** Events for which the plugin has no RPC. It receives them through StateChange, or not at all. */
  readonly #withoutRpc = new Set<EventName>();
  #name: PluginName;
  #isRegistered = false;
  #events: ReadonlySet<EventName> = new Set();

  constructor(options: PluginConnectionOptions) {
    this.#options = options;
    this.#name = options.name ?? { index: '??', base: 'plugin' };
    this.#multiplexer = new Multiplexer(options.stream);
    this.#connection = new TtrpcConnection(this.#multiplexer.open(PLUGIN_SERVICE));
    this.#plugin = this.#connection.client(Plugin);
    ignoreFailure(this.#registered.promise, 'the plugin may register with a wrong name after the timeout');
    const server = new TtrpcServer({ logger: options.logger });
    server.add(Runtime, {
      registerPlugin: async ({ pluginName, pluginIdx }) => this.#register({ index: pluginIdx, base: pluginName }),
      updateContainers: async ({ update }) => ({ failed: await options.onUpdate(update) }),
    });
    server.serve(this.#multiplexer.open(RUNTIME_SERVICE));
  }

  get index(): string {
    return this.#name.index;
  }

  get base(): string {
    return this.#name.base;
  }

  /** Full name, such as `10-balloons`. */
  get name(): string {
    return fullName(this.#name);
  }

  get isOpen(): boolean {
    return this.#connection.isOpen;
  }

  /** Resolves when either side closes the connection. */
  get closed(): Promise<void> {
    return this.#connection.closed;
  }

  subscribes(event: EventName): boolean {
    return this.#events.has(event);
  }

  /** Waits for the plugin to register, then configures it. Closes the connection if that fails. */
  async begin(): Promise<void> {
    const { registrationTimeoutMs, requestTimeoutMs } = this.#options.timeouts;
    try {
      using bound = withTimeout(undefined, registrationTimeoutMs, 'register a plugin');
      const lost = this.closed.then(() => {
        throw new PodwrightError('unavailable', 'register a plugin: the plugin has disconnected');
      });
      await raceAbort(Promise.race([this.#registered.promise, lost]), bound);
      const { events } = await this.#plugin.configure(
        {
          config: this.#options.config ?? '',
          runtimeName: this.#options.runtime.name,
          runtimeVersion: this.#options.runtime.version,
          registrationTimeout: BigInt(registrationTimeoutMs),
          requestTimeout: BigInt(requestTimeoutMs),
          nriVersion: NRI_VERSION,
        },
        { timeoutMs: requestTimeoutMs },
      );
      this.#events = eventsOfMask(events);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Sends the existing pods and containers, in several messages if needed. Closes the connection if that fails. */
  async synchronize(pods: PodSandbox[], containers: Container[]): Promise<ContainerUpdate[]> {
    try {
      const all = pages(
        [
          pods.map((pod) => ({ pod, bytes: toBinary(PodSandboxSchema, pod).length })),
          containers.map((container) => ({ container, bytes: toBinary(ContainerSchema, container).length })),
        ].flat(),
        SYNCHRONIZE_BYTES,
      );
      using bound = withTimeout(undefined, this.#options.timeouts.requestTimeoutMs, `synchronize plugin ${this.name}`);
      for (const [number, page] of all.entries()) {
        const more = number + 1 < all.length;
        const request = {
          pods: page.flatMap((one) => ('pod' in one ? one.pod : [])),
          containers: page.flatMap((one) => ('container' in one ? one.container : [])),
          more,
        };
        const response = await this.#plugin.synchronize(request, { signal: bound, timeoutMs: 0 });
        if (!more) return response.update;
        if (!response.more || response.update.length > 0)
          throw new PodwrightError('unimplemented', `synchronize plugin ${this.name}: it accepts one message only`);
      }
      return [];
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /**
   * Sends an event. Returns `undefined` if the plugin has not subscribed to it. If the connection is lost or the plugin does not respond in
   * time, closes the connection and returns `undefined`. Throws the plugin's error.
   */
  async call<E extends EventName>(event: E, encoded: EncodedEvent): Promise<EventResponse<E> | undefined> {
    if (!this.subscribes(event) || !this.isOpen) return undefined;
    try {
      return await this.#call(event, encoded);
    } catch (error) {
      if (this.isOpen && !isDeadlineExceeded(error)) throw error;
      this.#options.logger.error(
        { plugin: this.name, event, error: errorMessage(error) },
        'a plugin did not handle an event and is closed',
      );
      this.close();
      return undefined;
    }
  }

  /** Notifies the plugin that the runtime is stopping, then closes the connection. */
  async shutDown(): Promise<void> {
    const { requestTimeoutMs } = this.#options.timeouts;
    try {
      if (this.isOpen) await this.#plugin.shutdown({}, { timeoutMs: requestTimeoutMs });
    } catch (error) {
      this.#options.logger.debug({ plugin: this.name, error: errorMessage(error) }, 'the shutdown of an NRI plugin');
    } finally {
      this.close();
    }
  }

  close(): void {
    this.#connection.close();
    this.#multiplexer.close();
  }

  async #call<E extends EventName>(event: E, encoded: EncodedEvent): Promise<EventResponse<E> | undefined> {
    const options = { timeoutMs: this.#options.timeouts.requestTimeoutMs };
    if (!this.#withoutRpc.has(event)) {
      try {
        return await this.#connection.call<Methods[E]>(Plugin.method[event], encoded.request, options);
      } catch (error) {
        if (errorCode(error) !== 'unimplemented' || !(STATE_CHANGES.has(event) || OPTIONAL.has(event))) throw error;
        this.#withoutRpc.add(event);
      }
    }
    if (!STATE_CHANGES.has(event) || encoded.stateChange === undefined) return undefined;
    const request = encoded.stateChange(EVENT_NUMBERS[event]);
    await this.#connection.call(Plugin.method.stateChange, request, options);
    return undefined;
  }

  /** Accepts only the first registration: a different name would change the order of events and who owns the adjusted fields. */
  #register(name: PluginName): Record<string, never> {
    if (this.#isRegistered)
      throw new PodwrightError('failed_precondition', `register plugin ${this.name}: it is already registered`);
    this.#isRegistered = true;
    try {
      if (this.#options.name === undefined) this.#name = checkPluginName(name);
      this.#registered.resolve(this.#name);
      return {};
    } catch (error) {
      this.#registered.reject(error);
      throw error;
    }
  }
}
