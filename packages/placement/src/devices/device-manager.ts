import { errorMessage, type Logger, PodwrightError, type Registry } from '@podwright/base';
import { removeIfEmpty } from '@podwright/host';
import {
  type AllocatedResourceStatus,
  type Container,
  everyContainer,
  isExtendedResource,
  type Pod,
} from '@podwright/kube-api';
import { type AllocationRequest, type HintProvider, NO_HINT, type ResourceHints } from '../topology/topology-hint.ts';
import { DeviceAllocator } from './device-allocator.ts';
import { DeviceAssignments } from './device-assignments.ts';
import type { DeviceRecords } from './device-checkpoint.ts';
import { DeviceHintProvider } from './device-hint-provider.ts';
import { type DeviceAmounts, DeviceInventory } from './device-inventory.ts';
import { deviceMetrics } from './device-metrics.ts';
import { deviceOptions } from './device-options.ts';
import { type DeviceHealthListener, DevicePlugins } from './device-plugins.ts';
import { type Assignment, type ContainerDeviceOptions, type Device, deviceIds } from './device-types.ts';
import { containerRequests, type KnownDevices } from './known-devices.ts';
import { checkPlugin } from './registration.ts';
import { ReusableDevices } from './reusable-devices.ts';
import { readSavedDevices, SavedDevices } from './saved-devices.ts';

export type DeviceManagerOptions = {
  /** Directory of the checkpoint and the sockets of the plugins and the kubelet. */
  directory: string;
  /** IDs of the host's NUMA nodes. */
  nodes: number[];
  /** Whether any container of the pod is running. If so, the pod keeps its devices even if they are unhealthy. */
  isRunning: (podUid: string) => boolean;
  logger: Logger;
  metrics?: Registry;
};

/** A plugin discovered in the plugin registration directory; `name` is its resource name. */
type WatchedPlugin = { name: string; endpoint: string; versions: readonly string[] };

/** Manages device plugins and assigns their devices to containers. */
export class DeviceManager implements HintProvider {
  readonly #options: DeviceManagerOptions;
  readonly #known: KnownDevices;
  readonly #saved: SavedDevices;
  readonly #plugins: DevicePlugins;
  readonly #hints: DeviceHintProvider;
  readonly #allocator: DeviceAllocator;

  private constructor(options: DeviceManagerOptions, records: DeviceRecords | undefined) {
    const { directory, nodes, logger } = options;
    this.#options = options;
    const known = {
      inventory: new DeviceInventory(Object.keys(records?.registered ?? {})),
      assignments: new DeviceAssignments(records?.assignments ?? []),
      reusable: new ReusableDevices(),
    };
    const saved = new SavedDevices({ directory, known, isNew: records === undefined, logger });
    const metrics = options.metrics && deviceMetrics(options.metrics);
    this.#known = known;
    this.#saved = saved;
    this.#plugins = new DevicePlugins({ directory, known, saved, metrics, logger });
    this.#hints = new DeviceHintProvider(known, nodes);
    this.#allocator = new DeviceAllocator({ known, saved, metrics });
  }

  /** Restores the assignments made by an earlier kubelet. A corrupt checkpoint is logged and ignored. */
  static async open(options: DeviceManagerOptions): Promise<DeviceManager> {
    return new DeviceManager(options, await readSavedDevices(options.directory, options.logger));
  }

  /** Serves plugin registrations. Rejects with `already_exists` if another kubelet is serving the directory. */
  async serve(onHealth: DeviceHealthListener): Promise<void> {
    await this.#plugins.serve(onHealth);
  }

  async close(): Promise<void> {
    await this.#plugins.close();
    await this.#saved.settled();
    await removeIfEmpty(this.#options.directory);
  }

  /** Handles plugins found in the plugin registration directory. */
  readonly pluginHandler = {
    validate: ({ name, versions }: WatchedPlugin) => checkPlugin(name, [...versions]),
    register: ({ name, endpoint }: WatchedPlugin) => this.#plugins.connect({ resource: name, socket: endpoint }),
    deregister: async ({ name }: WatchedPlugin) => this.#known.inventory.plugin(name)?.close(),
  };

  /**
   * True until this node's first checkpoint is written. Until then, the device counts in its Node object are left over from an earlier
   * host.
   */
  get isNew(): boolean {
    return this.#saved.isNew;
  }

  /** Returns the device counts for the node status. The devices of a disconnected plugin are not allocatable. */
  amounts(): DeviceAmounts {
    return this.#known.inventory.amounts();
  }

  /** Returns the device counts for admission: at least the number of assigned devices, even while the plugin is unavailable. */
  admissible(): Record<string, bigint> {
    const { inventory, assignments } = this.#known;
    const { allocatable } = inventory.amounts();
    const names = [...Object.keys(allocatable), ...assignments.resources()];
    const most = (name: string) => Math.max(allocatable[name] ?? 0, assignments.inUse(name).size);
    return Object.fromEntries(names.map((name) => [name, BigInt(most(name))]));
  }

  /** Whether a plugin currently offers any healthy devices of the resource. */
  isOffered(resource: string): boolean {
    return this.#known.inventory.healthy(resource).length > 0;
  }

  /** Returns the healthy devices of every resource. */
  allocatable(): { resource: string; devices: Device[] }[] {
    const { inventory } = this.#known;
    return inventory.resources().map((resource) => ({ resource, devices: inventory.healthy(resource) }));
  }

  devicesOf(podUid: string, container: string): Assignment[] {
    return this.#known.assignments.ofContainer(podUid, container);
  }

  /** Returns the health of a container's devices. */
  healthOf(podUid: string, container: string): AllocatedResourceStatus[] {
    return this.devicesOf(podUid, container).map((assignment) => {
      const devices = this.#known.inventory.devices(assignment.resource);
      const unhealthy = new Set(devices.filter(({ isHealthy }) => !isHealthy).map(({ id }) => id));
      const health = (id: string) => (unhealthy.has(id) ? 'Unhealthy' : 'Healthy');
      const resources = deviceIds(assignment).map((id) => ({ resourceID: id, health: health(id) }) as const);
      return { name: assignment.resource, resources };
    });
  }

  containerHints(pod: Pod, container: Container): ResourceHints {
    return this.#hints.containerHints(pod, container);
  }

  podHints(pod: Pod): ResourceHints {
    return this.#hints.podHints(pod);
  }

  sharedBy({ spec }: Pod): string[] {
    const names = everyContainer(spec).flatMap(({ resources }) => Object.keys(resources?.limits ?? {}));
    return names.filter(isExtendedResource);
  }

  async allocate(request: AllocationRequest, signal: AbortSignal): Promise<void> {
    await this.#allocator.allocate(request, this.#options.isRunning(request.pod.metadata.uid), signal);
  }

  /**
   * Whether a container that is about to start lacks requested devices. That is the case if its pod was already running at admission and
   * its devices were not on record.
   */
  isMissing(pod: Pod, container: Container): boolean {
    const { uid } = pod.metadata;
    const counts = [...containerRequests(this.#known, pod, container)];
    const isAssigned = (name: string) => this.#known.assignments.find(uid, container.name, name) !== undefined;
    return counts.some(([name, count]) => count > 0 && !isAssigned(name));
  }

  /** Assigns any missing devices before the container starts. */
  async allocateMissing(pod: Pod, container: Container): Promise<void> {
    const { signal } = new AbortController(); // calls to plugins have timeouts
    if (this.isMissing(pod, container))
      await this.#allocator.allocate({ pod, container, hint: NO_HINT }, false, signal);
  }

  /**
   * Returns the device options for starting a container. Calls PreStartContainer on plugins that require it, and rejects if a call fails.
   */
  async optionsFor(pod: Pod, container: Container): Promise<ContainerDeviceOptions> {
    const { uid } = pod.metadata;
    for (const assignment of this.devicesOf(uid, container.name)) {
      try {
        await this.#known.inventory.plugin(assignment.resource)?.preStart(deviceIds(assignment));
      } catch (error) {
        const why = `device plugin PreStartContainer rpc failed with err: ${errorMessage(error)}`;
        throw new PodwrightError('unavailable', why, { cause: error });
      }
    }
    return deviceOptions(this.devicesOf(uid, container.name));
  }

  async release(podUid: string): Promise<void> {
    this.#known.reusable.forget(podUid);
    if (this.#known.assignments.forget(podUid)) await this.#saved.saveOrLog();
  }

  /** Releases the devices of pods that are no longer known. */
  async keepOnly(isKnown: (podUid: string) => boolean): Promise<void> {
    for (const podUid of this.#known.assignments.pods()) if (!isKnown(podUid)) await this.release(podUid);
  }
}
