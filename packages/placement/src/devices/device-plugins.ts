/** Registers device plugins and watches their device lists. */
import { background, errorMessage, type Logger, PodwrightError } from '@podwright/base';
import { startOnceThereIsSpace } from '../late-server.ts';
import type { DeviceMetrics } from './device-metrics.ts';
import { deviceIds } from './device-types.ts';
import type { KnownDevices } from './known-devices.ts';
import { MAX_DEVICE_RESOURCES } from './limits.ts';
import { PluginConnection } from './plugin-connection.ts';
import { type RegisteredPlugin, serveRegistration } from './registration.ts';
import type { SavedDevices } from './saved-devices.ts';

/** Called with the UIDs of the pods affected by a change in device health. */
export type DeviceHealthListener = (podUids: string[]) => void;

type Input = {
  /** Directory of the sockets of the plugins and the kubelet. */
  directory: string;
  known: Pick<KnownDevices, 'inventory' | 'assignments'>;
  saved: Pick<SavedDevices, 'saveOrLog'>;
  metrics: DeviceMetrics | undefined;
  logger: Logger;
};

export class DevicePlugins {
  readonly #input: Input;
  #server: { close(): Promise<void> } | undefined;
  #onHealth: DeviceHealthListener = () => undefined;

  constructor(input: Input) {
    this.#input = input;
  }

  /** Serves plugin registrations. Rejects with `already_exists` if another kubelet is serving the directory. */
  async serve(onHealth: DeviceHealthListener): Promise<void> {
    this.#onHealth = onHealth;
    const { directory, logger } = this.#input;
    const connect = (plugin: RegisteredPlugin) => this.connect(plugin);
    const serve = () => serveRegistration({ directory, connect, logger });
    this.#server = await startOnceThereIsSpace({ serve, consequence: 'device plugins cannot register', logger });
  }

  async close(): Promise<void> {
    await this.#server?.close();
    for (const plugin of this.#input.known.inventory.plugins()) plugin.close();
  }

  /**
   * Connects to a newly registered plugin, which replaces any earlier plugin for the same resource. Rejects if the plugin does not respond.
   */
  async connect({ resource, socket }: RegisteredPlugin): Promise<void> {
    const { known, metrics, logger } = this.#input;
    const { inventory } = known;
    const registered = inventory.resources();
    if (!registered.includes(resource) && registered.length >= MAX_DEVICE_RESOURCES)
      throw new PodwrightError('resource_exhausted', `${registered.length} resources are registered already`);
    const plugin = new PluginConnection(resource, socket);
    try {
      await plugin.connect();
    } catch (error) {
      plugin.close();
      throw error;
    }
    const earlier = inventory.plugin(resource);
    inventory.connect(plugin);
    earlier?.close();
    logger.info({ resource, socket }, 'a device plugin has registered');
    metrics?.registered(resource);
    background(logger, 'stopped watching the devices of a plugin', this.#follow(plugin));
  }

  async #follow(plugin: PluginConnection): Promise<void> {
    const { resource } = plugin;
    const { known, saved, logger } = this.#input;
    let why = 'its stream has ended';
    try {
      for await (const devices of plugin.lists()) {
        if (!this.#watchHealth(resource, () => known.inventory.list(plugin, devices))) return;
        void saved.saveOrLog();
      }
    } catch (error) {
      why = errorMessage(error);
    } finally {
      plugin.close();
    }
    if (!this.#watchHealth(resource, () => known.inventory.disconnect(plugin))) return;
    logger.warn({ resource, error: why }, 'a device plugin disconnected');
  }

  /** Runs `change`, then notifies the listener of the pods whose devices have changed health. */
  #watchHealth<T>(resource: string, change: () => T): T {
    const { inventory, assignments } = this.#input.known;
    const unhealthy = () => new Set(inventory.devices(resource).flatMap((one) => (one.isHealthy ? [] : [one.id])));
    const before = unhealthy();
    const result = change();
    const after = unhealthy();
    const isChanged = (id: string) => before.has(id) !== after.has(id);
    const own = assignments.all().filter((one) => one.resource === resource && deviceIds(one).some(isChanged));
    if (own.length > 0) this.#onHealth([...new Set(own.map(({ podUid }) => podUid))]);
    return result;
  }
}
