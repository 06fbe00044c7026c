import { join } from 'node:path';
import { toBinary } from '@bufbuild/protobuf';
import { background, CoalescedWork, errorMessage, type Logger, PodwrightError, type Registry } from '@podwright/base';
import { removeIfEmpty } from '@podwright/host';
import {
  type AllocatedResourceStatus,
  type Container,
  everyContainer,
  isClaimed,
  isExtendedResource,
  isSidecar,
  type Pod,
  quantityValue,
} from '@podwright/kube-api';
import { ContainerAllocateResponseSchema } from '../device-plugin-api.ts';
import { startOnceThereIsSpace } from '../late-server.ts';
import type { NodeMask } from '../topology/node-mask.ts';
import { type AllocationRequest, type HintProvider, NO_HINT, type ResourceHints } from '../topology/topology-hint.ts';
import { chooseDevices } from './choose-devices.ts';
import { DeviceAssignments } from './device-assignments.ts';
import { type DeviceRecords, readDeviceRecords, writeDeviceRecords } from './device-checkpoint.ts';
import { byNode, deviceHints } from './device-hints.ts';
import { type DeviceAmounts, DeviceInventory } from './device-inventory.ts';
import { type DeviceMetrics, deviceMetrics } from './device-metrics.ts';
import { deviceOptions } from './device-options.ts';
import { podRequests } from './device-requests.ts';
import { type Assignment, type ContainerDeviceOptions, type Device, deviceIds } from './device-types.ts';
import { MAX_DEVICE_RESOURCES } from './limits.ts';
import { PluginConnection } from './plugin-connection.ts';
import { checkPlugin, type RegisteredPlugin, serveRegistration } from './registration.ts';

export type DeviceManagerOptions = {
  /** Directory that holds the plugins' sockets, the kubelet's socket and the checkpoint. */
  directory: string;
  /** IDs of the host's NUMA nodes. */
  nodes: number[];
  /** Whether any of the pod's containers is running. Such a pod keeps its devices even if they are unhealthy. */
  isRunning: (podUid: string) => boolean;
  logger: Logger;
  metrics?: Registry;
};

/** Called with the UIDs of pods that have devices whose health changed. */
export type DeviceHealthListener = (podUids: string[]) => void;

/** A plugin discovered in the plugin registration directory; `name` is its resource name. */
type WatchedPlugin = { name: string; endpoint: string; versions: readonly string[] };

/** Name of the checkpoint file, the same as upstream's (kubeletDeviceManagerCheckpoint). */
const CHECKPOINT = 'kubelet_internal_checkpoint';

/** Manages device plugins, and assigns their devices to containers. */
export class DeviceManager implements HintProvider {
  readonly #options: DeviceManagerOptions;
  readonly #inventory: DeviceInventory;
  readonly #assignments: DeviceAssignments;
  /** IDs of devices assigned to init containers, by resource, for each pod being admitted. */
  readonly #reusable = new Map<string, Map<string, Set<string>>>();
  /** True if there is no checkpoint yet, that is, if the node is new. */
  #isNew: boolean;
  #server: { close(): Promise<void> } | undefined;
  #onHealth: DeviceHealthListener = () => undefined;
  /** Writes the checkpoint. Calls made during a write share the next write, because a plugin may send lists at any rate. */
  readonly #writing = new CoalescedWork(() => this.#write());
  readonly #metrics: DeviceMetrics | undefined;

  private constructor(options: DeviceManagerOptions, records: DeviceRecords | undefined) {
    this.#options = options;
    this.#metrics = options.metrics && deviceMetrics(options.metrics);
    this.#isNew = records === undefined;
    this.#inventory = new DeviceInventory(Object.keys(records?.registered ?? {}));
    this.#assignments = new DeviceAssignments(records?.assignments ?? []);
  }

  /** Restores the assignments of an earlier kubelet; a corrupt checkpoint is logged and ignored. */
  static async open(options: DeviceManagerOptions): Promise<DeviceManager> {
    const records = await readDeviceRecords(join(options.directory, CHECKPOINT)).catch((error: unknown) => {
      options.logger.error(
        { error: errorMessage(error) },
        'cannot read the device checkpoint: assigned devices are unknown',
      );
      return { assignments: [], registered: {} };
    });
    return new DeviceManager(options, records);
  }

  /** Serves plugin registrations. Rejects with `already_exists` if another kubelet is serving the directory. */
  async serve(onHealth: DeviceHealthListener): Promise<void> {
    this.#onHealth = onHealth;
    const { directory, logger } = this.#options;
    const connect = (plugin: RegisteredPlugin) => this.connect(plugin);
    const serve = () => serveRegistration({ directory, connect, logger });
    this.#server = await startOnceThereIsSpace({ serve, consequence: 'device plugins cannot register', logger });
  }

  async close(): Promise<void> {
    await this.#server?.close();
    for (const plugin of this.#inventory.plugins()) plugin.close();
    await this.#writing.settled();
    await removeIfEmpty(this.#options.directory);
  }

  /**
   * Connects to a plugin that has registered; it replaces any earlier plugin for the same resource. Rejects if the plugin does not respond.
   */
  async connect({ resource, socket }: RegisteredPlugin): Promise<void> {
    const known = this.#inventory.resources();
    if (!known.includes(resource) && known.length >= MAX_DEVICE_RESOURCES)
      throw new PodwrightError('resource_exhausted', `${known.length} resources are registered already`);
    const plugin = new PluginConnection(resource, socket);
    try {
      await plugin.connect();
    } catch (error) {
      plugin.close();
      throw error;
    }
    const earlier = this.#inventory.plugin(resource);
    this.#inventory.connect(plugin);
    earlier?.close();
    this.#options.logger.info({ resource, socket }, 'a device plugin has registered');
    this.#metrics?.registered(resource);
    background(this.#options.logger, 'stopped watching the devices of a plugin', this.#follow(plugin));
  }

  /** Handles plugins found in the plugin registration directory. */
  readonly pluginHandler = {
    validate: ({ name, versions }: WatchedPlugin) => checkPlugin(name, [...versions]),
    register: ({ name, endpoint }: WatchedPlugin) => this.connect({ resource: name, socket: endpoint }),
    deregister: async ({ name }: WatchedPlugin) => this.#inventory.plugin(name)?.close(),
  };

  async #follow(plugin: PluginConnection): Promise<void> {
    const { resource } = plugin;
    let why = 'its stream has ended';
    try {
      for await (const devices of plugin.lists()) {
        if (!this.#watchHealth(resource, () => this.#inventory.list(plugin, devices))) return;
        void this.#writeOrLog();
      }
    } catch (error) {
      why = errorMessage(error);
    } finally {
      plugin.close();
    }
    if (!this.#watchHealth(resource, () => this.#inventory.disconnect(plugin))) return;
    this.#options.logger.warn({ resource, error: why }, 'a device plugin disconnected');
  }

  /** True until this node's first checkpoint is written. Until then, the device amounts in its Node object are those of an earlier host. */
  get isNew(): boolean {
    return this.#isNew;
  }

  /** Returns the device counts for the node status; 0 for a resource whose plugin is gone. */
  amounts(): DeviceAmounts {
    return this.#inventory.amounts();
  }

  /** Returns the device counts for admission. They are never below the number of assigned devices, even if the plugin is unavailable. */
  admissible(): Record<string, bigint> {
    const { allocatable } = this.#inventory.amounts();
    const names = [...Object.keys(allocatable), ...this.#assignments.resources()];
    const most = (name: string) => Math.max(allocatable[name] ?? 0, this.#assignments.inUse(name).size);
    return Object.fromEntries(names.map((name) => [name, BigInt(most(name))]));
  }

  /** Whether a plugin currently offers healthy devices of the resource. */
  isOffered(resource: string): boolean {
    return this.#inventory.healthy(resource).length > 0;
  }

  /** Returns the healthy devices of every resource. */
  allocatable(): { resource: string; devices: Device[] }[] {
    return this.#inventory.resources().map((resource) => ({ resource, devices: this.#inventory.healthy(resource) }));
  }

  devicesOf(podUid: string, container: string): Assignment[] {
    return this.#assignments.ofContainer(podUid, container);
  }

  /** Returns the health of a container's devices. */
  healthOf(podUid: string, container: string): AllocatedResourceStatus[] {
    return this.#assignments.ofContainer(podUid, container).map((assignment) => {
      const devices = this.#inventory.devices(assignment.resource);
      const unhealthy = new Set(devices.filter(({ isHealthy }) => !isHealthy).map(({ id }) => id));
      const health = (id: string) => (unhealthy.has(id) ? 'Unhealthy' : 'Healthy');
      const resources = deviceIds(assignment).map((id) => ({ resourceID: id, health: health(id) }) as const);
      return { name: assignment.resource, resources };
    });
  }

  /** Runs `change`, then notifies the listener of pods that use devices whose health has changed. */
  #watchHealth<T>(resource: string, change: () => T): T {
    const unhealthy = () =>
      new Set(this.#inventory.devices(resource).flatMap((one) => (one.isHealthy ? [] : [one.id])));
    const before = unhealthy();
    const result = change();
    const after = unhealthy();
    const isChanged = (id: string) => before.has(id) !== after.has(id);
    const own = this.#assignments.all().filter((one) => one.resource === resource && deviceIds(one).some(isChanged));
    if (own.length > 0) this.#onHealth([...new Set(own.map(({ podUid }) => podUid))]);
    return result;
  }

  containerHints(pod: Pod, container: Container): ResourceHints {
    const { uid } = pod.metadata;
    const has = (resource: string) => this.#assignments.find(uid, container.name, resource);
    return this.#hints(uid, this.#requests(pod, container), has);
  }

  podHints(pod: Pod): ResourceHints {
    const { uid } = pod.metadata;
    const own = this.#assignments.ofPod(uid);
    const has = (resource: string) => {
      const ids = own.flatMap((one) => (one.resource === resource ? deviceIds(one) : []));
      return ids.length === 0 ? undefined : [...new Set(ids)];
    };
    const requests = podRequests(pod, (container) => this.#requests(pod, container));
    return this.#hints(uid, requests, has);
  }

  #hints(
    podUid: string,
    requests: Map<string, number>,
    has: (resource: string) => string[] | undefined,
  ): ResourceHints {
    const hints = [...requests].map(([resource, count]) => {
      const devices = this.#inventory.devices(resource);
      const own = has(resource);
      if (own !== undefined && own.length !== count) return [resource, []];
      const inUse = this.#assignments.inUse(resource);
      const free = devices.flatMap(({ id, isHealthy }) => (isHealthy && !inUse.has(id) ? [id] : []));
      const reusable = own === undefined ? this.#reusableOf(podUid, resource) : new Set<string>();
      const { nodes } = this.#options;
      return [resource, deviceHints({ devices, available: new Set(own ?? free), reusable, count, nodes })];
    });
    return Object.fromEntries(hints);
  }

  sharedBy({ spec }: Pod): string[] {
    const names = everyContainer(spec).flatMap(({ resources }) => Object.keys(resources?.limits ?? {}));
    return names.filter(isExtendedResource);
  }

  async allocate(request: AllocationRequest, signal: AbortSignal): Promise<void> {
    await this.#allocate(request, this.#options.isRunning(request.pod.metadata.uid), signal);
  }

  /**
   * Whether a container that is about to start lacks requested devices. This happens if its pod was already running when it was admitted
   * and there was no record of its devices.
   */
  isMissing(pod: Pod, container: Container): boolean {
    const { uid } = pod.metadata;
    const counts = [...this.#requests(pod, container)];
    return counts.some(([name, count]) => count > 0 && this.#assignments.find(uid, container.name, name) === undefined);
  }

  /** Assigns missing devices before the container starts. */
  async allocateMissing(pod: Pod, container: Container): Promise<void> {
    const { signal } = new AbortController(); // calls to plugins have timeouts
    if (this.isMissing(pod, container)) await this.#allocate({ pod, container, hint: NO_HINT }, false, signal);
  }

  async #allocate({ pod, container, hint }: AllocationRequest, isRunning: boolean, signal: AbortSignal): Promise<void> {
    const { uid } = pod.metadata;
    const before = this.#assignments.ofContainer(uid, container.name);
    let isChanged = false;
    for (const [resource, count] of this.#requests(pod, container)) {
      const request = { podUid: uid, container: container.name, resource, count, nodes: hint.nodes, isRunning };
      isChanged = (await this.#allocateResource(request, signal)) || isChanged;
    }
    if (isChanged)
      await this.#writing.run().catch((error: unknown) => {
        this.#assignments.restore(uid, container.name, before);
        throw error;
      });
    this.#noteReusable(pod, container);
  }

  /** Assigns devices of one resource unless the container has them already. Returns whether it assigned any. */
  async #allocateResource(request: ResourceRequest, signal: AbortSignal): Promise<boolean> {
    const { podUid, container, resource, count, nodes, isRunning } = request;
    const own = this.#assignments.find(podUid, container, resource);
    if (own !== undefined && own.length !== count) {
      const what = `pod "${podUid}" container "${container}" changed request for resource "${resource}"`;
      throw new PodwrightError('failed_precondition', `${what} from ${own.length} to ${count}`);
    }
    if (isRunning) return false;
    const healthy = this.#healthyOrThrow(resource, own ?? []);
    if (own !== undefined || count === 0) return false;
    const plugin = this.#inventory.plugin(resource);
    if (plugin === undefined) throw new PodwrightError('unavailable', `unknown Device Plugin ${resource}`);
    const inUse = this.#assignments.inUse(resource);
    const reusable = this.#reusableOf(podUid, resource);
    const chosen = await chooseDevices({ resource, count, healthy, inUse, reusable, nodes }, (preference) =>
      plugin.prefer(preference, signal).catch((error: unknown) => {
        throw new PodwrightError(
          'unavailable',
          `device plugin GetPreferredAllocation rpc failed with err: ${errorMessage(error)}`,
        );
      }),
    );
    const askedAtMs = performance.now();
    const answer = toBinary(ContainerAllocateResponseSchema, await plugin.allocate(chosen, signal));
    this.#metrics?.allocated(resource, (performance.now() - askedAtMs) / 1000);
    const ids = new Set(chosen);
    const devices = byNode(healthy.filter(({ id }) => ids.has(id)));
    this.#assignments.add({ podUid, container, resource, devices, answer });
    return true;
  }

  /** Returns a resource's healthy devices. Throws upstream's message if there are none or if assigned devices are unhealthy. */
  #healthyOrThrow(resource: string, own: string[]): Device[] {
    const fail = (why: string) => new PodwrightError('failed_precondition', why);
    if (!this.#inventory.has(resource)) throw fail(`cannot allocate unregistered device ${resource}`);
    const healthy = this.#inventory.healthy(resource);
    const cannot = `cannot allocate unhealthy devices ${resource}`;
    if (healthy.length === 0) throw fail(`no healthy devices present; ${cannot}`);
    const ids = new Set(healthy.map(({ id }) => id));
    if (!own.every((id) => ids.has(id))) throw fail(`previously allocated devices are no longer healthy; ${cannot}`);
    return healthy;
  }

  /** IDs of devices that later containers of the same pod may reuse. */
  #reusableOf(podUid: string, resource: string): ReadonlySet<string> {
    return this.#reusable.get(podUid)?.get(resource) ?? new Set();
  }

  /**
   * Records which devices are reusable: later containers may reuse an init container's devices, but not those of a sidecar or a main
   * container.
   */
  #noteReusable(pod: Pod, container: Container): void {
    const isInit = pod.spec.initContainers?.some(({ name }) => name === container.name) === true;
    const leaves = isInit && !isSidecar(container);
    const { uid } = pod.metadata;
    const reusable = this.#reusable.get(uid) ?? new Map<string, Set<string>>();
    for (const assignment of this.#assignments.ofContainer(uid, container.name)) {
      const ids = new Set(reusable.get(assignment.resource));
      for (const id of deviceIds(assignment)) leaves ? ids.add(id) : ids.delete(id);
      reusable.set(assignment.resource, ids);
    }
    if (reusable.size > 0) this.#reusable.set(uid, reusable);
  }

  /** Returns the device options for starting a container. Calls PreStartContainer on plugins that require it; rejects if a call fails. */
  async optionsFor(pod: Pod, container: Container): Promise<ContainerDeviceOptions> {
    const { uid } = pod.metadata;
    for (const assignment of this.#assignments.ofContainer(uid, container.name)) {
      try {
        await this.#inventory.plugin(assignment.resource)?.preStart(deviceIds(assignment));
      } catch (error) {
        const why = `device plugin PreStartContainer rpc failed with err: ${errorMessage(error)}`;
        throw new PodwrightError('unavailable', why, { cause: error });
      }
    }
    return deviceOptions(this.#assignments.ofContainer(uid, container.name));
  }

  async release(podUid: string): Promise<void> {
    this.#reusable.delete(podUid);
    if (this.#assignments.forget(podUid)) await this.#writeOrLog();
  }

  /** Releases the devices of pods that are no longer known. */
  async keepOnly(isKnown: (podUid: string) => boolean): Promise<void> {
    for (const podUid of this.#assignments.pods()) if (!isKnown(podUid)) await this.release(podUid);
  }

  /** Returns the requested amounts of registered or assigned resources, except those that the pod gets through ResourceClaims. */
  #requests(pod: Pod, { name: container, resources }: Container): Map<string, number> {
    const known = this.#assignments.resources();
    const limits = Object.entries(resources?.limits ?? {});
    return new Map(
      limits
        .filter(([name]) => (this.#inventory.has(name) || known.has(name)) && !isClaimed(pod, container, name))
        .map(([name, amount]) => [name, Number(quantityValue(amount))]),
    );
  }

  /** Writes the checkpoint on a best-effort basis: a failure is logged, and the next change writes it again. */
  async #writeOrLog(): Promise<void> {
    await this.#writing.run().catch((error: unknown) => {
      this.#options.logger.error({ error: errorMessage(error) }, 'cannot write the device checkpoint');
    });
  }

  /** Writes the checkpoint. Rejects with upstream's message, because a container must not start with devices that are not recorded. */
  async #write(): Promise<void> {
    const healthyIds = (resource: string) => this.#inventory.healthy(resource).map(({ id }) => id);
    const registered = Object.fromEntries(this.#inventory.resources().map((name) => [name, healthyIds(name)]));
    this.#isNew = false;
    const records = { assignments: this.#assignments.all(), registered };
    await writeDeviceRecords(join(this.#options.directory, CHECKPOINT), records).catch((error: unknown) => {
      const why = `failed to write checkpoint file "${CHECKPOINT}": ${errorMessage(error)}`;
      throw new PodwrightError('unavailable', why, { cause: error });
    });
  }
}

type ResourceRequest = {
  podUid: string;
  container: string;
  resource: string;
  count: number;
  nodes: NodeMask | undefined;
  isRunning: boolean;
};
