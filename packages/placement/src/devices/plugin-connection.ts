/** Connection to a device plugin: calls with timeouts, and the device list stream. */
import { PodwrightError } from '@podwright/base';
import { connectService } from '@podwright/grpc';
import {
  type ContainerAllocateResponse,
  DevicePlugin,
  type DevicePluginOptions,
  type ListAndWatchResponse,
} from '../device-plugin-api.ts';
import type { Preference } from './choose-devices.ts';
import type { Device } from './device-types.ts';
import {
  DEVICE_ALLOCATE_TIMEOUT_MS,
  DEVICE_PLUGIN_CONNECT_TIMEOUT_MS,
  DEVICE_PRE_START_TIMEOUT_MS,
  MAX_DEVICE_ID_LENGTH,
  MAX_DEVICE_LIST_BYTES,
  MAX_DEVICE_NODES,
  MAX_DEVICES,
} from './limits.ts';

export class PluginConnection {
  readonly resource: string;
  readonly socket: string;
  readonly #client: ReturnType<typeof connectService<typeof DevicePlugin>>;
  readonly #end = new AbortController();
  #options: DevicePluginOptions | undefined;

  /** Throws `invalid_argument` if the path cannot be a socket path. */
  constructor(resource: string, socket: string) {
    this.resource = resource;
    this.socket = socket;
    this.#client = connectService(DevicePlugin, socket, { maxReceiveBytes: MAX_DEVICE_LIST_BYTES });
  }

  /** Gets the plugin's options. Rejects if the plugin does not respond in time. */
  async connect(): Promise<void> {
    this.#options = await this.#client.getDevicePluginOptions({}, this.#within(DEVICE_PLUGIN_CONNECT_TIMEOUT_MS));
  }

  /**
   * Yields the full device list, initially and after each change. Returns when the plugin ends the stream; throws if the stream fails or a
   * list is invalid.
   */
  async *lists(): AsyncGenerator<Device[]> {
    const options = { signal: this.#end.signal, timeoutMs: Number.POSITIVE_INFINITY };
    for await (const list of this.#client.listAndWatch({}, options)) yield devicesOf(list);
  }

  /** Calls Allocate, which returns the options for a container with these devices. */
  async allocate(ids: string[], signal: AbortSignal): Promise<ContainerAllocateResponse> {
    const request = { containerRequests: [{ devicesIds: ids }] };
    const { containerResponses } = await this.#client.allocate(
      request,
      this.#within(DEVICE_ALLOCATE_TIMEOUT_MS, signal),
    );
    const [answer] = containerResponses;
    if (answer !== undefined) return answer;
    throw new PodwrightError('internal', `no containers return in allocation response of ${this.resource}`);
  }

  /** Calls GetPreferredAllocation; returns an empty list if the plugin does not support it. */
  async prefer({ available, mustInclude, count }: Preference, signal: AbortSignal): Promise<string[]> {
    if (this.#options?.getPreferredAllocationAvailable !== true) return [];
    const request = { availableDeviceIDs: available, mustIncludeDeviceIDs: mustInclude, allocationSize: count };
    const within = this.#within(DEVICE_ALLOCATE_TIMEOUT_MS, signal);
    const { containerResponses } = await this.#client.getPreferredAllocation({ containerRequests: [request] }, within);
    return containerResponses[0]?.deviceIDs ?? [];
  }

  /** Calls PreStartContainer, if the plugin requires it, before a container with these devices starts. */
  async preStart(ids: string[]): Promise<void> {
    if (this.#options?.preStartRequired !== true) return;
    await this.#client.preStartContainer({ devicesIds: ids }, this.#within(DEVICE_PRE_START_TIMEOUT_MS));
  }

  /** Cancels all calls in flight. */
  close(): void {
    this.#end.abort(new PodwrightError('cancelled', `the device plugin of ${this.resource} is no longer used`));
    this.#client.close();
  }

  #within(timeoutMs: number, signal?: AbortSignal) {
    const ends = [this.#end.signal, ...(signal === undefined ? [] : [signal])];
    return { signal: AbortSignal.any(ends), timeoutMs };
  }
}

/** Decodes a device list. The last entry wins if an ID occurs more than once. Throws `out_of_range` if a limit is exceeded. */
function devicesOf({ devices }: ListAndWatchResponse): Device[] {
  if (devices.length > MAX_DEVICES)
    throw new PodwrightError('out_of_range', `a list of ${devices.length} devices; at most ${MAX_DEVICES} are allowed`);
  const found = new Map(
    devices.map(({ ID: id, health, topology }) => {
      if (id.length > MAX_DEVICE_ID_LENGTH)
        throw new PodwrightError('out_of_range', `a device with an id of ${id.length} characters`);
      const nodes = [...new Set((topology?.nodes ?? []).map(({ ID }) => Number(ID)))];
      const isPlace = (node: number) => node >= 0 && node < MAX_DEVICE_NODES;
      return [id, { id, isHealthy: health === 'Healthy', nodes: nodes.filter(isPlace) }];
    }),
  );
  return [...found.values()];
}
