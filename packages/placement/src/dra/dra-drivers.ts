import { errorMessage, type Logger, PodwrightError } from '@podwright/base';
import { asRpcError, type ConnectedService, connectService, parseEndpoint } from '@podwright/grpc';
import { DRAPlugin } from '../dra-api.ts';
import type { DeviceHealth } from '../dra-health-api.ts';
import { MAX_PLUGIN_ANSWER_BYTES } from '../plugins/limits.ts';
import type { Plugin, PluginHandler } from '../plugins/plugin-handler.ts';
import { watchDriver } from './watch-driver.ts';

/**
 * Maps the service names that drivers may register (upstream's) to the gRPC packages for calling them. The messages of these packages are
 * compatible.
 */
const PACKAGES = new Map([
  ['v1.DRAPlugin', 'k8s.io.kubelet.pkg.apis.dra.v1'],
  ['v1beta1.DRAPlugin', 'k8s.io.kubelet.pkg.apis.dra.v1beta1'],
]);

type Registered = { endpoint: string; packageName: string; isReached: boolean; stop: AbortController };

export type DraService = ConnectedService<typeof DRAPlugin>;

export type DraDriversOptions = {
  /** Called when a driver becomes reachable or unreachable. */
  onUsable: (driver: string, isUsable: boolean) => void;
  /** Called with the health of the driver's devices, or with `undefined` when the driver stops reporting. */
  onHealth: (driver: string, devices: DeviceHealth[] | undefined) => void;
  logger: Logger;
  /** Delay before a health watch is restarted, in milliseconds. Default: 5 s, as in upstream. */
  retryMs?: number;
};

/**
 * Registered DRA drivers. A driver may be registered twice during a rolling update; calls then use the most recent reachable registration.
 */
export class DraDrivers implements PluginHandler {
  readonly #options: DraDriversOptions;
  readonly #drivers = new Map<string, Registered[]>();

  constructor(options: DraDriversOptions) {
    this.#options = options;
  }

  validate(plugin: Plugin): void {
    packageOf(plugin);
  }

  async register(plugin: Plugin): Promise<void> {
    const { name, endpoint } = plugin;
    const known = this.#drivers.get(name) ?? [];
    if (known.some((one) => one.endpoint === endpoint))
      throw new PodwrightError(
        'already_exists',
        `endpoint ${endpoint} already registered for DRA driver plugin ${name}`,
      );
    const added = { endpoint, packageName: packageOf(plugin), isReached: true, stop: new AbortController() };
    this.#change(name, () => this.#drivers.set(name, [...known, added]));
    this.#watch(name, added);
  }

  async deregister({ name, endpoint }: Plugin): Promise<void> {
    const known = this.#drivers.get(name) ?? [];
    const left = known.filter((one) => one.endpoint !== endpoint);
    this.#change(name, () => (left.length > 0 ? this.#drivers.set(name, left) : this.#drivers.delete(name)));
    for (const one of known) if (!left.includes(one)) one.stop.abort();
    if (left.length < known.length) this.#options.onHealth(name, undefined);
  }

  stop(): void {
    for (const { stop } of [...this.#drivers.values()].flat()) stop.abort();
  }

  /** Throws `unavailable` if the driver is not registered. */
  require(name: string): Registered {
    const registered = this.#drivers.get(name);
    const chosen = registered?.findLast(({ isReached }) => isReached) ?? registered?.at(-1);
    if (chosen === undefined) throw new PodwrightError('unavailable', `DRA driver ${name} is not registered`);
    return chosen;
  }

  #watch(name: string, registered: Registered): void {
    const { onHealth, logger, retryMs } = this.#options;
    const onReach = (isReached: boolean) =>
      this.#change(name, () => {
        registered.isReached = isReached;
      });
    const watch = { onReach, onHealth: (devices?: DeviceHealth[]) => onHealth(name, devices), logger, retryMs };
    watchDriver(pathOf(registered), watch, registered.stop.signal).catch((error: unknown) => {
      logger.error({ driver: name, error: errorMessage(error) }, 'stopped watching a DRA driver');
    });
  }

  #change(name: string, work: () => unknown): void {
    const isUsable = () => this.#drivers.get(name)?.some(({ isReached }) => isReached) === true;
    const before = isUsable();
    work();
    if (isUsable() !== before) this.#options.onUsable(name, !before);
  }

  /** Calls a driver. Errors from the driver are formatted as by Go's gRPC. */
  async call<T>(name: string, work: (driver: DraService) => Promise<T>): Promise<T> {
    const registered = this.require(name);
    const options = { maxReceiveBytes: MAX_PLUGIN_ANSWER_BYTES, packageName: registered.packageName };
    const driver = connectService(DRAPlugin, pathOf(registered), options);
    try {
      return await work(driver);
    } catch (error) {
      throw asRpcError(error);
    } finally {
      driver.close();
    }
  }
}

const pathOf = ({ endpoint }: Pick<Plugin, 'endpoint'>) => endpoint.replace(/^unix:(\/\/)?/, '');

/** Returns the gRPC package for calling a plugin. Throws if it registered no supported service or an invalid endpoint. */
function packageOf({ name, endpoint, versions }: Plugin): string {
  parseEndpoint(`unix:${pathOf({ endpoint })}`);
  const chosen = versions.map((version) => PACKAGES.get(version)).find((one) => one !== undefined);
  if (chosen !== undefined) return chosen;
  const quoted = (names: Iterable<string>) => `[${[...names].map((one) => `"${one}"`).join(' ')}]`;
  const why =
    versions.length === 0
      ? 'empty list of supported gRPC services (aka supported versions)'
      : `none of services supported by the plugin (${quoted(versions)}) are supported by the kubelet (${quoted(PACKAGES.keys())})`;
  throw new PodwrightError(
    'failed_precondition',
    `invalid supported gRPC versions of DRA driver plugin ${name} at endpoint ${endpoint}: ${why}`,
  );
}
