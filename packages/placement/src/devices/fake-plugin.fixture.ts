/** A fake device plugin that speaks the real protocol. The test controls its behavior and misbehavior. */
import { join } from 'node:path';
import { Broadcast, silentLogger } from '@podwright/base';
import { connectService, handleService, type ListeningServer, serveServices } from '@podwright/grpc';
import { DevicePlugin, Registration } from '../device-plugin-api.ts';
import { Registration as WatchedRegistration } from '../plugin-registration-api.ts';

export type FakeDevice = string | { id: string; isHealthy?: boolean; nodes?: number[] };

export type FakePluginBehavior = {
  devices: FakeDevice[];
  preStartRequired?: boolean;
  /** Builds the plugin's response to Allocate. */
  answer?: (ids: string[]) => object;
  prefer?: (available: string[], mustInclude: string[], count: number) => string[];
};

export class FakePlugin {
  readonly resource: string;
  readonly calls: { method: 'allocate' | 'preStart' | 'prefer'; ids: string[] }[] = [];
  /** If set, responses to Allocate are delayed until this resolves. */
  hold: Promise<unknown> | undefined;
  behavior: FakePluginBehavior;
  readonly #directory: string;
  readonly #changes = new Broadcast<void>();
  #server: ListeningServer | undefined;
  #announced: ListeningServer | undefined;

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

  /** Registers with the kubelet, by default under the plugin's own resource name and socket. */
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

  /** Serves the plugin registration protocol in a directory, as an alternative to `register`. */
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

  /** Changes the devices and sends the updated list. */
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
