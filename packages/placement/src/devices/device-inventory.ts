import type { Device } from './device-types.ts';
import { DEVICE_PLUGIN_GRACE_MS } from './limits.ts';
import type { PluginConnection } from './plugin-connection.ts';

/**
 * A resource is `offered` by a plugin that has registered, its devices those that it tells of; `lost` since its plugin has gone, which
 * may come back; or `gone`: then the node has none of it.
 */
type Resource =
  | { state: 'offered'; plugin: PluginConnection; devices: Device[] }
  | { state: 'lost'; sinceMs: number; devices: Device[] }
  | { state: 'gone' };

/** Amounts of each resource. */
export type DeviceAmounts = { capacity: Record<string, number>; allocatable: Record<string, number> };

/** What plugins have registered. */
export class DeviceInventory {
  readonly #resources = new Map<string, Resource>();
  readonly #now: () => number;

  /** `lost` are resources that an earlier kubelet knew: their plugins are to register again. */
  constructor(lost: string[], now: () => number = () => performance.now()) {
    this.#now = now;
    for (const resource of lost) this.#resources.set(resource, { state: 'lost', sinceMs: now(), devices: [] });
  }

  /** A plugin has registered: until it tells of its devices there are none that are healthy. */
  connect(plugin: PluginConnection): void {
    const devices = this.#known(plugin.resource).map((device) => ({ ...device, isHealthy: false }));
    this.#resources.set(plugin.resource, { state: 'offered', plugin, devices });
  }

  /** Whether the list counts: it does not if another plugin has taken the resource over. */
  list(plugin: PluginConnection, devices: Device[]): boolean {
    if (this.plugin(plugin.resource) !== plugin) return false;
    this.#resources.set(plugin.resource, { state: 'offered', plugin, devices });
    return true;
  }

  /** The plugin has gone; whether anybody is to know. */
  disconnect(plugin: PluginConnection): boolean {
    if (this.plugin(plugin.resource) !== plugin) return false;
    const devices = this.#known(plugin.resource).map((device) => ({ ...device, isHealthy: false }));
    this.#resources.set(plugin.resource, { state: 'lost', sinceMs: this.#now(), devices });
    return true;
  }

  plugin(resource: string): PluginConnection | undefined {
    const found = this.#resources.get(resource);
    return found?.state === 'offered' ? found.plugin : undefined;
  }

  plugins(): PluginConnection[] {
    return this.resources().flatMap((resource) => this.plugin(resource) ?? []);
  }

  /** Whether a plugin has registered for the resource, not too long ago if it has gone. */
  has(resource: string): boolean {
    this.#expire();
    return (this.#resources.get(resource)?.state ?? 'gone') !== 'gone';
  }

  /** Names of all that `has` tells of. */
  resources(): string[] {
    this.#expire();
    return [...this.#resources].flatMap(([resource, { state }]) => (state === 'gone' ? [] : [resource]));
  }

  devices(resource: string): Device[] {
    return this.has(resource) ? this.#known(resource) : [];
  }

  healthy(resource: string): Device[] {
    return this.devices(resource).filter(({ isHealthy }) => isHealthy);
  }

  /** For the node's status: a resource that is gone stays there, with nothing of it. */
  amounts(): DeviceAmounts {
    this.#expire();
    const names = [...this.#resources.keys()];
    return {
      capacity: Object.fromEntries(names.map((name) => [name, this.#known(name).length])),
      allocatable: Object.fromEntries(names.map((name) => [name, this.healthy(name).length])),
    };
  }

  #known(resource: string): Device[] {
    const found = this.#resources.get(resource);
    return found === undefined || found.state === 'gone' ? [] : found.devices;
  }

  #expire(): void {
    const now = this.#now();
    for (const [resource, found] of this.#resources) {
      if (found.state === 'lost' && now - found.sinceMs > DEVICE_PLUGIN_GRACE_MS)
        this.#resources.set(resource, { state: 'gone' });
    }
  }
}
