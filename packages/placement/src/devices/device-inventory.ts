import type { Device } from './device-types.ts';
import { DEVICE_PLUGIN_GRACE_MS } from './limits.ts';
import type { PluginConnection } from './plugin-connection.ts';

/**
 * `offered`: registered by a plugin, which reports its devices. `lost`: the plugin has disconnected, but the grace period has not expired.
 * `gone`: no longer available on the node.
 */
type Resource =
  | { state: 'offered'; plugin: PluginConnection; devices: Device[] }
  | { state: 'lost'; sinceMs: number; devices: Device[] }
  | { state: 'gone' };

/** Device counts by resource. */
export type DeviceAmounts = { capacity: Record<string, number>; allocatable: Record<string, number> };

/** Tracks the resources of device plugins and their devices. */
export class DeviceInventory {
  readonly #resources = new Map<string, Resource>();
  readonly #now: () => number;

  /** `lost`: resources restored from the checkpoint; their plugins have not registered again yet. */
  constructor(lost: string[], now: () => number = () => performance.now()) {
    this.#now = now;
    for (const resource of lost) this.#resources.set(resource, { state: 'lost', sinceMs: now(), devices: [] });
  }

  /** Makes `plugin` the resource's current plugin. All known devices count as unhealthy until it sends its first device list. */
  connect(plugin: PluginConnection): void {
    const devices = this.#known(plugin.resource).map((device) => ({ ...device, isHealthy: false }));
    this.#resources.set(plugin.resource, { state: 'offered', plugin, devices });
  }

  /** Sets the resource's devices. Returns false, ignoring the list, if a different plugin has taken over the resource. */
  list(plugin: PluginConnection, devices: Device[]): boolean {
    if (this.plugin(plugin.resource) !== plugin) return false;
    this.#resources.set(plugin.resource, { state: 'offered', plugin, devices });
    return true;
  }

  /** Marks the resource as lost. Returns false without doing anything if a different plugin has taken over the resource. */
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

  /** Whether the resource is offered by a plugin, or was until recently: the grace period since the plugin disconnected has not expired. */
  has(resource: string): boolean {
    this.#expire();
    return (this.#resources.get(resource)?.state ?? 'gone') !== 'gone';
  }

  /** Returns the names of all resources for which `has` is true. */
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

  /** Returns the device counts for the node status. A resource in the `gone` state is still listed, with a count of 0. */
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
