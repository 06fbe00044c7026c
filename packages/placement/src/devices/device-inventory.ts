import type { Device } from './device-types.ts';
import { DEVICE_PLUGIN_GRACE_MS } from './limits.ts';
import type { PluginConnection } from './plugin-connection.ts';

/**
 * `offered`: a registered plugin lists the resource's devices. `lost`: the plugin has disconnected, but the grace period is not over yet.
 * `gone`: the node no longer has the resource.
 */
type Resource =
  | { state: 'offered'; plugin: PluginConnection; devices: Device[] }
  | { state: 'lost'; sinceMs: number; devices: Device[] }
  | { state: 'gone' };

/** Number of devices per resource. */
export type DeviceAmounts = { capacity: Record<string, number>; allocatable: Record<string, number> };

/** Keeps track of device plugin resources and their devices. */
export class DeviceInventory {
  readonly #resources = new Map<string, Resource>();
  readonly #now: () => number;

  /** `lost`: resources from the checkpoint, whose plugins have to register again. */
  constructor(lost: string[], now: () => number = () => performance.now()) {
    this.#now = now;
    for (const resource of lost) this.#resources.set(resource, { state: 'lost', sinceMs: now(), devices: [] });
  }

  /** Makes `plugin` the current plugin for its resource. All known devices count as unhealthy until it sends its first list. */
  connect(plugin: PluginConnection): void {
    const devices = this.#known(plugin.resource).map((device) => ({ ...device, isHealthy: false }));
    this.#resources.set(plugin.resource, { state: 'offered', plugin, devices });
  }

  /** Sets the resource's devices. If another plugin has taken over the resource, ignores the list and returns false. */
  list(plugin: PluginConnection, devices: Device[]): boolean {
    if (this.plugin(plugin.resource) !== plugin) return false;
    this.#resources.set(plugin.resource, { state: 'offered', plugin, devices });
    return true;
  }

  /** Marks the resource as lost. If another plugin has taken over the resource, does nothing and returns false. */
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

  /** Whether a plugin offers the resource, or did so until it disconnected less than the grace period ago. */
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

  /** Returns the device counts for the node status. A resource in the state `gone` remains listed with a count of 0. */
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
