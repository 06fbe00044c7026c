/** Assigns devices to containers. */
import { toBinary } from '@bufbuild/protobuf';
import { errorMessage, PodwrightError } from '@podwright/base';
import { ContainerAllocateResponseSchema } from '../device-plugin-api.ts';
import type { NodeMask } from '../topology/node-mask.ts';
import type { AllocationRequest } from '../topology/topology-hint.ts';
import { chooseDevices } from './choose-devices.ts';
import { byNode } from './device-hints.ts';
import type { DeviceMetrics } from './device-metrics.ts';
import type { Device } from './device-types.ts';
import { containerRequests, type KnownDevices } from './known-devices.ts';
import type { PluginConnection } from './plugin-connection.ts';
import type { SavedDevices } from './saved-devices.ts';

type Input = { known: KnownDevices; saved: Pick<SavedDevices, 'save'>; metrics: DeviceMetrics | undefined };

type ResourceRequest = {
  podUid: string;
  container: string;
  resource: string;
  count: number;
  nodes: NodeMask | undefined;
  isRunning: boolean;
};

export class DeviceAllocator {
  readonly #input: Input;

  constructor(input: Input) {
    this.#input = input;
  }

  /**
   * Assigns the requested devices that the container lacks, and saves the assignments. `isRunning`: the pod is already running and gets no
   * more devices. On failure, assigns nothing and rejects with upstream's message.
   */
  async allocate({ pod, container, hint }: AllocationRequest, isRunning: boolean, signal: AbortSignal): Promise<void> {
    const { known, saved } = this.#input;
    const { assignments, reusable } = known;
    const { uid } = pod.metadata;
    const before = assignments.ofContainer(uid, container.name);
    try {
      let isChanged = false;
      for (const [resource, count] of containerRequests(known, pod, container)) {
        const request = { podUid: uid, container: container.name, resource, count, nodes: hint.nodes, isRunning };
        isChanged = (await this.#allocateResource(request, signal)) || isChanged;
      }
      if (isChanged) await saved.save();
    } catch (error) {
      assignments.restore(uid, container.name, before);
      throw error;
    }
    reusable.note(pod, container, assignments.ofContainer(uid, container.name));
  }

  /** Assigns devices of a single resource, unless the container already has them. Returns whether it assigned any. */
  async #allocateResource(request: ResourceRequest, signal: AbortSignal): Promise<boolean> {
    const { inventory, assignments } = this.#input.known;
    const { podUid, container, resource, count, isRunning } = request;
    const own = assignments.find(podUid, container, resource);
    if (own !== undefined && own.length !== count) {
      const what = `pod "${podUid}" container "${container}" changed request for resource "${resource}"`;
      throw new PodwrightError('failed_precondition', `${what} from ${own.length} to ${count}`);
    }
    if (isRunning) return false;
    const healthy = this.#healthyOrThrow(resource, own ?? []);
    if (own !== undefined || count === 0) return false;
    const plugin = inventory.plugin(resource);
    if (plugin === undefined) throw new PodwrightError('unavailable', `unknown Device Plugin ${resource}`);
    await this.#assign(request, { plugin, healthy }, signal);
    return true;
  }

  async #assign(
    { podUid, container, resource, count, nodes }: ResourceRequest,
    { plugin, healthy }: { plugin: PluginConnection; healthy: Device[] },
    signal: AbortSignal,
  ): Promise<void> {
    const { known, metrics } = this.#input;
    const inUse = known.assignments.inUse(resource);
    const reusable = known.reusable.of(podUid, resource);
    const chosen = await chooseDevices({ resource, count, healthy, inUse, reusable, nodes }, (preference) =>
      plugin.prefer(preference, signal).catch((error: unknown) => {
        const why = `device plugin GetPreferredAllocation rpc failed with err: ${errorMessage(error)}`;
        throw new PodwrightError('unavailable', why);
      }),
    );
    const askedAtMs = performance.now();
    const answer = toBinary(ContainerAllocateResponseSchema, await plugin.allocate(chosen, signal));
    metrics?.allocated(resource, (performance.now() - askedAtMs) / 1000);
    const ids = new Set(chosen);
    const devices = byNode(healthy.filter(({ id }) => ids.has(id)));
    known.assignments.add({ podUid, container, resource, devices, answer });
  }

  /**
   * Returns a resource's healthy devices. Throws with upstream's message if there are none, or if any of the assigned devices are
   * unhealthy.
   */
  #healthyOrThrow(resource: string, own: string[]): Device[] {
    const { inventory } = this.#input.known;
    const fail = (why: string) => new PodwrightError('failed_precondition', why);
    if (!inventory.has(resource)) throw fail(`cannot allocate unregistered device ${resource}`);
    const healthy = inventory.healthy(resource);
    const cannot = `cannot allocate unhealthy devices ${resource}`;
    if (healthy.length === 0) throw fail(`no healthy devices present; ${cannot}`);
    const ids = new Set(healthy.map(({ id }) => id));
    if (!own.every((id) => ids.has(id))) throw fail(`previously allocated devices are no longer healthy; ${cannot}`);
    return healthy;
  }
}
