import { join } from 'node:path';
import {
  background,
  CoalescedWork,
  errorMessage,
  type Logger,
  PodwrightError,
  type Registry,
  removeIfEmpty,
} from '@podwright/base';
import { type CriServer, toBinary } from '@podwright/cri';
import { ContainerAllocateResponseSchema } from '@podwright/cri/device-plugin';
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
  /** Directory of the plugins' sockets, of ours and of the checkpoint. */
  directory: string;
  /** NUMA nodes of the host. */
  nodes: number[];
  /** Whether something of the pod runs: what it has been given it keeps, whatever its plugin says. */
  isRunning: (podUid: string) => boolean;
  logger: Logger;
  metrics?: Registry;
};

/** Called with the pods whose devices have become healthy or unhealthy. */
export type DeviceHealthListener = (podUids: string[]) => void;

/** A plugin as its socket tells of it: the name is that of its resource. */
type WatchedPlugin = { name: string; endpoint: string; versions: readonly string[] };

/** Upstream's name of the file (kubeletDeviceManagerCheckpoint). */
const CHECKPOINT = 'kubelet_internal_checkpoint';

/** Knows the device plugins and gives their devices to containers. */
export class DeviceManager implements HintProvider {
  readonly #options: DeviceManagerOptions;
  readonly #inventory: DeviceInventory;
  readonly #assignments: DeviceAssignments;
  /** Of each pod that is being admitted: what its init containers had, by resource. */
  readonly #reusable = new Map<string, Map<string, Set<string>>>();
  /** Nothing was written down yet: the node is a new one. */
  #isNew: boolean;
  #server: CriServer | undefined;
  #onHealth: DeviceHealthListener = () => undefined;
  /** A plugin may send its list again and again: one write waits, whatever comes. */
  readonly #writing = new CoalescedWork(() => this.#write());
  readonly #metrics: DeviceMetrics | undefined;

  private constructor(options: DeviceManagerOptions, records: DeviceRecords | undefined) {
    this.#options = options;
    this.#metrics = options.metrics && deviceMetrics(options.metrics);
    this.#isNew = records === undefined;
    this.#inventory = new DeviceInventory(Object.keys(records?.registered ?? {}));
    this.#assignments = new DeviceAssignments(records?.assignments ?? []);
  }

  /** Goes on with what an earlier kubelet has given out; a checkpoint that is not whole is named in the log and counts as none. */
  static async open(options: DeviceManagerOptions): Promise<DeviceManager> {
    const records = await readDeviceRecords(join(options.directory, CHECKPOINT)).catch((error: unknown) => {
      options.logger.error({ error: errorMessage(error) }, 'what containers have of devices is not known any more');
      return { assignments: [], registered: {} };
    });
    return new DeviceManager(options, records);
  }

  /** Lets plugins register in the directory. Rejects with `already_exists` if another kubelet has it. */
  async serve(onHealth: DeviceHealthListener): Promise<void> {
    this.#onHealth = onHealth;
    const { directory, logger } = this.#options;
    this.#server = await serveRegistration({ directory, connect: (plugin) => this.connect(plugin), logger });
  }

  async close(): Promise<void> {
    await this.#server?.close();
    for (const plugin of this.#inventory.plugins()) plugin.close();
    await this.#writing.settled();
    await removeIfEmpty(this.#options.directory);
  }

  /** Connects to a plugin that has registered, in the place of an earlier one of its resource. Rejects if it does not answer. */
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
    background(this.#options.logger, 'the devices of a plugin are not followed any more', this.#follow(plugin));
  }

  /** Takes plugins that come through the plugin registration directory. */
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
    this.#options.logger.warn({ resource, error: why }, 'a device plugin has gone');
  }

  /** Whether no kubelet here has ever heard of a plugin: what its node object says of devices is of a host that was before. */
  get isNew(): boolean {
    return this.#isNew;
  }

  /** What the node has, for its status: of a resource whose plugin has gone for good, none. */
  amounts(): DeviceAmounts {
    return this.#inventory.amounts();
  }

  /** What pods may have together: at least what they have, though its plugin may be away. */
  admissible(): Record<string, bigint> {
    const { allocatable } = this.#inventory.amounts();
    const names = [...Object.keys(allocatable), ...this.#assignments.resources()];
    const most = (name: string) => Math.max(allocatable[name] ?? 0, this.#assignments.inUse(name).size);
    return Object.fromEntries(names.map((name) => [name, BigInt(most(name))]));
  }

  /** Whether a plugin offers devices of the resource now. */
  isOffered(resource: string): boolean {
    return this.#inventory.healthy(resource).length > 0;
  }

  /** Healthy devices of every resource. */
  allocatable(): { resource: string; devices: Device[] }[] {
    return this.#inventory.resources().map((resource) => ({ resource, devices: this.#inventory.healthy(resource) }));
  }

  devicesOf(podUid: string, container: string): Assignment[] {
    return this.#assignments.ofContainer(podUid, container);
  }

  /** How the devices are that a container has. */
  healthOf(podUid: string, container: string): AllocatedResourceStatus[] {
    return this.#assignments.ofContainer(podUid, container).map((assignment) => {
      const devices = this.#inventory.devices(assignment.resource);
      const unwell = new Set(devices.filter(({ isHealthy }) => !isHealthy).map(({ id }) => id));
      const health = (id: string) => (unwell.has(id) ? 'Unhealthy' : 'Healthy');
      const resources = deviceIds(assignment).map((id) => ({ resourceID: id, health: health(id) }) as const);
      return { name: assignment.resource, resources };
    });
  }

  /** Tells of the pods that have devices which have become well or unwell by `change`. */
  #watchHealth<T>(resource: string, change: () => T): T {
    const unwell = () => new Set(this.#inventory.devices(resource).flatMap((one) => (one.isHealthy ? [] : [one.id])));
    const before = unwell();
    const result = change();
    const after = unwell();
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

  /** Whether a container that is about to start has not been given what it asks for: it ran when its kubelet knew nothing of that. */
  isMissing(pod: Pod, container: Container): boolean {
    const { uid } = pod.metadata;
    const counts = [...this.#requests(pod, container)];
    return counts.some(([name, count]) => count > 0 && this.#assignments.find(uid, container.name, name) === undefined);
  }

  /** Gives such a container its devices. */
  async allocateMissing(pod: Pod, container: Container): Promise<void> {
    const { signal } = new AbortController(); // the calls of plugins have a bound
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

  /** Whether anything was given out. */
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
    const chosen = await chooseDevices({ resource, count, healthy, inUse, reusable, nodes }, (asked) =>
      plugin.prefer(asked, signal).catch((error: unknown) => {
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

  /** The healthy devices of a resource. Throws in upstream's words if there are none, or if those that a container has are not. */
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

  /** Of another pod than the one that is being admitted nothing may be used again. */
  #reusableOf(podUid: string, resource: string): ReadonlySet<string> {
    return this.#reusable.get(podUid)?.get(resource) ?? new Set();
  }

  /** An init container leaves its devices to those after it; a sidecar keeps them, as others do. */
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

  /**
   * What the container is to be started with. Tells plugins that want to know that it starts, and rejects with why it may not.
   */
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

  /** Frees what pods have that are not there any more. */
  async keepOnly(isKnown: (podUid: string) => boolean): Promise<void> {
    for (const podUid of this.#assignments.pods()) if (!isKnown(podUid)) await this.release(podUid);
  }

  /** What the container asks for of resources that plugins offer, or that somebody has; not what it has of a claim. */
  #requests(pod: Pod, { name: container, resources }: Container): Map<string, number> {
    const known = this.#assignments.resources();
    const limits = Object.entries(resources?.limits ?? {});
    return new Map(
      limits
        .filter(([name]) => (this.#inventory.has(name) || known.has(name)) && !isClaimed(pod, container, name))
        .map(([name, amount]) => [name, Number(quantityValue(amount))]),
    );
  }

  /** What is gone or has changed nobody has to wait for: it is written down the next time at the latest. */
  async #writeOrLog(): Promise<void> {
    await this.#writing.run().catch((error: unknown) => {
      this.#options.logger.error({ error: errorMessage(error) }, 'what containers have of devices is not written down');
    });
  }

  /** Rejects in upstream's words: a container must not have what stands in no file. */
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
