import type { Duplex } from 'node:stream';
import { background, errorMessage, KeyedLock, type Logger, PodwrightError } from '@podwright/base';
import type { DefaultValidatorSettings } from './default-validator.ts';
import type { EventDelivery, Requested } from './event-delivery.ts';
import type { Awaitable, ContainerSource, EventSubject, PodSource } from './event-source.ts';
import type { ContainerAdjustment, ContainerUpdate } from './gen/nri/v1alpha1/adjustment_pb.js';
import type { LinuxResources } from './gen/nri/v1alpha1/container_pb.js';
import { KnownObjects } from './known-objects.ts';
import { MAX_PLUGINS, REGISTRATION_TIMEOUT_MS, REQUEST_TIMEOUT_MS } from './limits.ts';
import type { PluginConnection, PluginTimeouts } from './plugin-connection.ts';
import type { PluginName } from './plugin-name.ts';

/** The container runtime operations used by plugins. */
export type RuntimeDomain = {
  /** Returns all pods, and the containers that have not exited, including those still being created. */
  list(): { pods: PodSource[]; containers: ContainerSource[] };
  /** Applies an update requested by a plugin. */
  update(containerId: string, resources: LinuxResources): Promise<void>;
  /** Stops a container at a plugin's request. */
  evict(containerId: string, reason: string): Promise<void>;
};

export type AdaptationOptions = {
  /** Name and version reported to plugins. */
  runtime: { name: string; version: string };
  timeouts?: Partial<PluginTimeouts>;
  /** Settings of the built-in validator. If absent, the validator is disabled. */
  validator?: DefaultValidatorSettings;
  logger: Logger;
};

/**
 * The container runtime's side of NRI. Delivers events to the connected plugins and merges the changes they request.
 *
 * Events are delivered one at a time, in order, and to one plugin after another: plugins rely on this order, which is containerd's. A new
 * plugin is synchronized between two events. It receives exactly the pods and containers whose creation has been reported to the other
 * plugins, so it neither misses any nor receives any twice. The runtime applies the updates requested by plugins after the event, when the
 * next event may already be in progress.
 *
 * If a plugin does not respond in time, its connection is closed and the event is delivered to the next plugin.
 */
export class Adaptation {
  readonly #options: AdaptationOptions;
  readonly #timeouts: PluginTimeouts;
  readonly #events = new KeyedLock();
  readonly #known = new KnownObjects();
  /** Loaded once a plugin connects or a validator needs it, because the protobuf messages take up several megabytes of memory. */
  #delivery: Promise<EventDelivery> | undefined;
  /** Connections of plugins that have not been synchronized yet. */
  readonly #connecting = new Set<Duplex>();
  /** Synchronized plugins, in ascending order of their index. */
  #plugins: PluginConnection[] = [];
  #domain: RuntimeDomain | undefined;
  /** Number of events and synchronizations that are queued or in progress. */
  #waiting = 0;
  #stopped = false;

  constructor(options: AdaptationOptions) {
    this.#options = options;
    this.#timeouts = {
      registrationTimeoutMs: options.timeouts?.registrationTimeoutMs ?? REGISTRATION_TIMEOUT_MS,
      requestTimeoutMs: options.timeouts?.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
    };
  }

  /** Names of the connected plugins, in the order in which they receive events. */
  get plugins(): string[] {
    return this.#plugins.filter(({ isOpen }) => isOpen).map(({ name }) => name);
  }

  /** Whether any plugin or the built-in validator would receive an event. If not, the event methods return immediately. */
  get isActive(): boolean {
    return this.#plugins.length > 0 || this.#waiting > 0 || this.#options.validator !== undefined;
  }

  /**
   * Sets the container runtime, whose existing pods and containers are sent to plugins when they connect. Must be called before `connect`.
   */
  attach(domain: RuntimeDomain): void {
    this.#domain = domain;
    const { pods, containers } = domain.list();
    for (const { id, isStopped } of pods) this.#known.set(id, isStopped ? 'stopped' : 'running');
    for (const { id } of containers) this.#known.set(id, 'running');
  }

  /**
   * Accepts a plugin on a connection. Resolves once the plugin has been synchronized. If registering, configuring or synchronizing it
   * fails, closes the connection and rejects. Rejects with `resource_exhausted` if `MAX_PLUGINS` are connected.
   */
  async connect(stream: Duplex, preinstalled?: { name: PluginName; config: string }): Promise<PluginConnection> {
    if (this.#stopped || this.#connecting.size + this.#plugins.length >= MAX_PLUGINS) {
      stream.destroy();
      throw new PodwrightError('resource_exhausted', `connect an NRI plugin: ${MAX_PLUGINS} are connected`);
    }
    this.#connecting.add(stream);
    stream.on('error', () => undefined); // `close` follows
    try {
      const plugin = await this.#connection(stream, preinstalled);
      await plugin.begin();
      const updates = await this.#inOrder(() => this.#synchronize(plugin));
      await this.#applyRequested({ updates, evictions: [] });
      return plugin;
    } catch (error) {
      stream.destroy();
      throw error;
    } finally {
      this.#connecting.delete(stream);
    }
  }

  /** Notifies all plugins that the runtime is stopping, then closes their connections. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const stream of this.#connecting) stream.destroy();
    await Promise.all(this.#plugins.map((plugin) => plugin.shutDown()));
    this.#plugins = [];
  }

  /**
   * Delivers RunPodSandbox. Must be called once the pod has its namespaces and addresses, before the pod becomes visible to clients. Throws
   * plugins' errors.
   */
  async runPodSandbox(pod: PodSource): Promise<void> {
    if (this.#isIdle()) return this.#known.set(pod.id, 'running');
    await this.#inOrder(async (delivery) => {
      this.#known.set(pod.id, 'running');
      await delivery.notify('runPodSandbox', { pod });
    });
  }

  /**
   * Delivers UpdatePodSandbox. Throws plugins' errors. `resources` returns the requested resources; it is called only if a plugin receives
   * them.
   */
  async updatePodSandbox(
    pod: PodSource,
    resources: () => Awaitable<{ overhead: LinuxResources; sum: LinuxResources }>,
  ): Promise<void> {
    if (this.#isIdle()) return;
    await this.#inOrder((delivery) => delivery.updatePodSandbox(pod, async () => await resources()));
  }

  /** Delivers StopPodSandbox, once per pod. Failures are logged, because plugins must not prevent pods from being stopped. */
  async stopPodSandbox(pod: PodSource): Promise<void> {
    if (this.#isIdle()) return void this.#known.stop(pod.id);
    await this.#inOrder((delivery) => this.#stopPod(delivery, pod));
  }

  /** Delivers RemovePodSandbox, preceded by StopPodSandbox if the pod has not been stopped. Failures are logged. */
  async removePodSandbox(pod: PodSource): Promise<void> {
    if (this.#isIdle()) return this.#known.remove(pod.id);
    await this.#inOrder(async (delivery) => {
      if (!this.#known.has(pod.id)) return;
      await this.#stopPod(delivery, pod);
      this.#known.remove(pod.id);
      await delivery.report('removePodSandbox', { pod });
    });
  }

  /**
   * Delivers CreateContainer. Returns the merged adjustments; `undefined` if no plugin adjusts the container. Throws `failed_precondition` if
   * two plugins set the same field or a validator rejects the adjustments; plugin errors are passed through. After a failure, the caller
   * must call `removeContainer`.
   */
  async createContainer(container: ContainerSource): Promise<ContainerAdjustment | undefined> {
    if (this.#isIdle()) {
      this.#known.set(container.id, 'running');
      return undefined;
    }
    const { adjust, ...requested } = await this.#inOrder(async (delivery) => {
      this.#known.set(container.id, 'running');
      return await delivery.createContainer(container);
    });
    await this.#applyRequested(requested);
    return adjust;
  }

  /** Delivers a container event that plugins can only observe. Failures are logged. */
  async notifyContainer(
    event: 'postCreateContainer' | 'postStartContainer' | 'postUpdateContainer',
    container: ContainerSource,
  ): Promise<void> {
    if (this.#isIdle()) return;
    await this.#inOrder((delivery) => delivery.report(event, subjectOf(container)));
  }

  /** Delivers PostUpdatePodSandbox. Failures are logged. */
  async notifyPodUpdated(pod: PodSource): Promise<void> {
    if (this.#isIdle()) return;
    await this.#inOrder((delivery) => delivery.report('postUpdatePodSandbox', { pod }));
  }

  /** Delivers StartContainer. Throws plugins' errors. */
  async startContainer(container: ContainerSource): Promise<void> {
    if (this.#isIdle()) return;
    await this.#inOrder((delivery) => delivery.notify('startContainer', subjectOf(container)));
  }

  /**
   * Delivers UpdateContainer. Returns the resources to set instead of those requested by the client, or `undefined` if no plugin changes
   * them.
   */
  async updateContainer(container: ContainerSource, requested: LinuxResources): Promise<LinuxResources | undefined> {
    if (this.#isIdle()) return undefined;
    const { updates, evictions } = await this.#inOrder((delivery) => delivery.updateContainer(container, requested));
    const own = updates.find(({ containerId }) => containerId === container.id);
    await this.#applyRequested({ updates: updates.filter((update) => update !== own), evictions });
    return own?.linux?.resources;
  }

  /** Delivers StopContainer, once per container. Must be called when the container has exited. Failures are logged. */
  async stopContainer(container: ContainerSource): Promise<void> {
    if (this.#isIdle()) return void this.#known.stop(container.id);
    this.#applyLater(await this.#inOrder((delivery) => this.#stopContainer(delivery, container)));
  }

  /** Delivers RemoveContainer, preceded by StopContainer if that has not been delivered. Failures are logged. */
  async removeContainer(container: ContainerSource): Promise<void> {
    if (this.#isIdle()) return this.#known.remove(container.id);
    const updates = await this.#inOrder(async (delivery) => {
      if (!this.#known.has(container.id)) return [];
      const requested = await this.#stopContainer(delivery, container);
      this.#known.remove(container.id);
      await delivery.report('removeContainer', subjectOf(container));
      return requested;
    });
    this.#applyLater(updates);
  }

  #isIdle(): boolean {
    if (this.isActive) this.#plugins = this.#plugins.filter(({ isOpen }) => isOpen);
    return !this.isActive;
  }

  async #inOrder<T>(work: (delivery: EventDelivery) => Promise<T>): Promise<T> {
    this.#waiting++;
    return await this.#events.run('', async () => work(await this.#load())).finally(() => this.#waiting--);
  }

  #load(): Promise<EventDelivery> {
    const { validator, logger } = this.#options;
    this.#delivery ??= import('./event-delivery.ts').then(
      (module) => new module.EventDelivery({ plugins: () => this.#plugins, validator, logger }),
    );
    return this.#delivery;
  }

  async #connection(
    stream: Duplex,
    preinstalled: { name: PluginName; config: string } | undefined,
  ): Promise<PluginConnection> {
    const { runtime, logger } = this.#options;
    const onUpdate = (updates: ContainerUpdate[]) => this.#apply(updates);
    const delivery = await this.#load();
    if (stream.destroyed) throw new PodwrightError('unavailable', 'connect an NRI plugin: it has disconnected');
    return delivery.connection(stream, { runtime, timeouts: this.#timeouts, ...preinstalled, onUpdate, logger });
  }

  async #synchronize(plugin: PluginConnection): Promise<ContainerUpdate[]> {
    const { logger } = this.#options;
    const { pods, containers } = this.#domain?.list() ?? { pods: [], containers: [] };
    const updates = await plugin.synchronize(
      await Promise.all(pods.filter(({ id }) => this.#known.has(id)).map((pod) => pod.message())),
      await Promise.all(
        containers.filter(({ id }) => this.#known.isRunning(id)).map((container) => container.message()),
      ),
    );
    if (this.#stopped || !plugin.isOpen) throw new PodwrightError('unavailable', `plugin ${plugin.name} is closed`);
    this.#plugins = [...this.#plugins, plugin].sort((a, b) => Number(a.index) - Number(b.index));
    logger.info({ plugin: plugin.name, order: this.plugins }, 'an NRI plugin is connected');
    void plugin.closed.then(() => {
      this.#plugins = this.#plugins.filter((one) => one !== plugin);
      logger.info({ plugin: plugin.name }, 'an NRI plugin is disconnected');
    });
    return updates;
  }

  async #stopPod(delivery: EventDelivery, pod: PodSource): Promise<void> {
    if (this.#known.stop(pod.id)) await delivery.report('stopPodSandbox', { pod });
  }

  async #stopContainer(delivery: EventDelivery, container: ContainerSource): Promise<ContainerUpdate[]> {
    return this.#known.stop(container.id) ? await delivery.stopContainer(container) : [];
  }

  /** Applies the updates and evictions requested by plugins in response to an event. Failures are logged, as in containerd. */
  async #applyRequested({ updates, evictions }: Requested): Promise<void> {
    for (const { containerId, reason } of evictions) {
      await this.#domain?.evict(containerId, reason).catch((error: unknown) => {
        const { logger } = this.#options;
        logger.warn(
          { container: containerId, error: errorMessage(error) },
          'an NRI plugin could not evict a container',
        );
      });
    }
    await this.#apply(updates);
  }

  /**
   * Applies container updates requested by plugins in the background. Waiting for them could deadlock, because the caller may hold a lock
   * that an update needs.
   */
  #applyLater(updates: readonly ContainerUpdate[]): void {
    if (updates.length > 0) background(this.#options.logger, 'updates of NRI plugins failed', this.#apply(updates));
  }

  /** Applies container updates requested by plugins. Returns those that failed, except those with `ignoreFailure`. */
  async #apply(updates: readonly ContainerUpdate[]): Promise<ContainerUpdate[]> {
    const failed: ContainerUpdate[] = [];
    for (const update of updates) {
      try {
        const resources = update.linux?.resources;
        if (resources !== undefined) await this.#domain?.update(update.containerId, resources);
      } catch (error) {
        if (!update.ignoreFailure) failed.push(update);
        this.#options.logger.warn(
          { container: update.containerId, error: errorMessage(error) },
          'an NRI plugin could not update a container',
        );
      }
    }
    return failed;
  }
}

const subjectOf = (container: ContainerSource): EventSubject => ({ pod: container.pod, container });
