/** A device plugin for tests, over the real protocol; it does what its test tells it, also what no plugin should. */
import { join } from 'node:path';
import { Broadcast, silentLogger } from '@podwright/base';
import { type CriServer, connectService, handleService, serveServices } from '@podwright/cri';
import { DevicePlugin, Registration } from '@podwright/cri/device-plugin';
import { Registration as WatchedRegistration } from '@podwright/cri/plugin-registration';

/** A device as a test names it: its id alone, or with what else there is to tell of it. */
export type FakeDevice = string | { id: string; isHealthy?: boolean; nodes?: number[] };

export type FakePluginBehavior = {
  devices: FakeDevice[];
  preStartRequired?: boolean;
  /** What it answers to Allocate. */
  answer?: (ids: string[]) => object;
  prefer?: (available: string[], mustInclude: string[], count: number) => string[];
};

export class FakePlugin {
  readonly resource: string;
  /** What it was asked, in order. */
  readonly calls: { method: 'allocate' | 'preStart' | 'prefer'; ids: string[] }[] = [];
  /** What it waits for before it answers an Allocate. */
  hold: Promise<unknown> | undefined;
  behavior: FakePluginBehavior;
  readonly #directory: string;
  readonly #changes = new Broadcast<void>();
  #server: CriServer | undefined;
  #announced: CriServer | undefined;

  constructor(directory: string, resource: string, behavior: FakePluginBehavior) {
    this.#directory = directory;
    this.resource = resource;
    this.behavior = behavior;
  }

  get socket(): string {
    return join(this.#directory, this.#name);
  }

  get #name(): string {
    return `${this.resource.replaceAll('/', '-')}.sock`;
  }

  async serve(): Promise<void> {
    const service = handleService(DevicePlugin, {
      getDevicePluginOptions: async () => ({
        preStartRequired: this.behavior.preStartRequired === true,
        getPreferredAllocationAvailable: this.behavior.prefer !== undefined,
      }),
      listAndWatch: (_, { signal }) => this.#lists(signal),
      getPreferredAllocation: async ({ containerRequests: [request] }) => {
        const { availableDeviceIDs, mustIncludeDeviceIDs, allocationSize } = request!;
        this.calls.push({ method: 'prefer', ids: availableDeviceIDs });
        const deviceIDs = this.behavior.prefer!(availableDeviceIDs, mustIncludeDeviceIDs, allocationSize);
        return { containerResponses: [{ deviceIDs }] };
      },
      allocate: async ({ containerRequests: [request] }) => {
        this.calls.push({ method: 'allocate', ids: request!.devicesIds });
        await this.hold;
        const answer = this.behavior.answer ?? ((ids) => ({ envs: { WIDGETS: ids.join(',') } }));
        return { containerResponses: [answer(request!.devicesIds)] };
      },
      preStartContainer: async ({ devicesIds: ids }) => {
        this.calls.push({ method: 'preStart', ids });
        return {};
      },
    });
    this.#server = await serveServices([service], { socket: this.socket, logger: silentLogger });
  }

  /** Tells the kubelet of itself, as it is by its resource, or as something else. */
  async register(request: { version?: string; endpoint?: string; resourceName?: string } = {}): Promise<void> {
    const kubelet = connectService(Registration, join(this.#directory, 'kubelet.sock'), { maxReceiveBytes: 1 << 20 });
    try {
      const own = { version: 'v1beta1', endpoint: this.#name, resourceName: this.resource };
      await kubelet.register({ ...own, ...request });
    } finally {
      kubelet.close();
    }
  }

  async start(): Promise<void> {
    await this.serve();
    await this.register();
  }

  /** Lets itself be found at a socket in a directory, in the place of `register`. */
  async announce(directory: string): Promise<void> {
    await this.serve();
    const info = { type: 'DevicePlugin', name: this.resource, endpoint: this.socket, supportedVersions: ['v1beta1'] };
    const service = handleService(WatchedRegistration, {
      getInfo: async () => info,
      notifyRegistrationStatus: async () => ({}),
    });
    const socket = join(directory, this.#name);
    this.#announced = await serveServices([service], { socket, logger: silentLogger });
  }

  /** Tells of other devices. */
  change(devices: FakeDevice[]): void {
    this.behavior = { ...this.behavior, devices };
    this.#changes.publish();
  }

  async stop(): Promise<void> {
    await this.#announced?.close(0);
    await this.#server?.close(0);
  }

  async *#lists(signal: AbortSignal) {
    const changes = this.#changes.subscribe(signal);
    yield this.#list();
    for await (const _ of changes) yield this.#list();
  }

  #list() {
    const all = this.behavior.devices.map((device) => (typeof device === 'string' ? { id: device } : device));
    const devices = all.map(({ id, isHealthy = true, nodes = [] }) => ({
      ID: id,
      health: isHealthy ? 'Healthy' : 'Unhealthy',
      topology: { nodes: nodes.map((node) => ({ ID: BigInt(node) })) },
    }));
    return { devices };
  }
}
