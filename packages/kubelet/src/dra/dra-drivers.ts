import { PodwrightError } from '@podwright/base';
import { type ConnectedService, connectService } from '@podwright/cri';
import { DRAPlugin } from '@podwright/cri/dra';
import { asRpcError } from '../kubecontainer/rpc-error.ts';
import { MAX_PLUGIN_ANSWER_BYTES } from '../limits.ts';
import type { Plugin, PluginHandler } from '../plugins/plugin-handler.ts';

/** The services that drivers may have, by upstream's names of them: their messages are alike. */
const PACKAGES = new Map([
  ['v1.DRAPlugin', 'k8s.io.kubelet.pkg.apis.dra.v1'],
  ['v1beta1.DRAPlugin', 'k8s.io.kubelet.pkg.apis.dra.v1beta1'],
]);

type Registered = { endpoint: string; packageName: string };

export type DraService = ConnectedService<typeof DRAPlugin>;

/** The DRA drivers that have registered. One may be there twice while it is updated: the last to come is called. */
export class DraDrivers implements PluginHandler {
  readonly #drivers = new Map<string, Registered[]>();
  readonly #onChange: (driver: string, isThere: boolean) => void;

  /** `onChange` hears when the first of a name comes, and the last goes. */
  constructor(onChange: (driver: string, isThere: boolean) => void) {
    this.#onChange = onChange;
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
    this.#drivers.set(name, [...known, { endpoint, packageName: packageOf(plugin) }]);
    if (known.length === 0) this.#onChange(name, true);
  }

  async deregister({ name, endpoint }: Plugin): Promise<void> {
    const left = (this.#drivers.get(name) ?? []).filter((one) => one.endpoint !== endpoint);
    if (left.length > 0) this.#drivers.set(name, left);
    else if (this.#drivers.delete(name)) this.#onChange(name, false);
  }

  /** Throws `unavailable` for a driver that has not registered. */
  require(name: string): Registered {
    const registered = this.#drivers.get(name)?.at(-1);
    if (registered === undefined) throw new PodwrightError('unavailable', `DRA driver ${name} is not registered`);
    return registered;
  }

  /** Calls a driver. What it answers rejects in the words of Go's gRPC. */
  async call<T>(name: string, work: (driver: DraService) => Promise<T>): Promise<T> {
    const { endpoint, packageName } = this.require(name);
    const options = { maxReceiveBytes: MAX_PLUGIN_ANSWER_BYTES, packageName };
    const driver = connectService(DRAPlugin, endpoint.replace(/^unix:(\/\/)?/, ''), options);
    try {
      return await work(driver);
    } catch (error) {
      throw asRpcError(error);
    } finally {
      driver.close();
    }
  }
}

function packageOf({ name, endpoint, versions }: Plugin): string {
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
