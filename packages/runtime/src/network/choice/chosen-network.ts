import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage, type Logger, PodwrightError, type ProgramStarter, type TraceWork } from '@podwright/base';
import type { RuntimeOptions } from '../../options.ts';
import type { Subnet } from '../bridge/subnet.ts';
import { CniNetwork } from '../cni/cni-network.ts';
import type { Network, NetworkRequest, NetworkResult, NetworkStatus } from '../network.ts';
import { type NetworkChoice, NetworkSource } from './network-source.ts';

/** The network that is used while the host has no configuration of its own. */
export type OwnNetwork = Network & {
  readonly subnets: readonly Subnet[];
  prepare(sandboxId: string, netnsPath: string, signal: AbortSignal): Promise<boolean>;
  /** Whether anything of the sandbox is there. */
  has(sandboxId: string): boolean;
  /** Takes down what was prepared for a pod that is set up by something else now. */
  disconnect(sandboxId: string): Promise<void>;
};

export type ChosenNetworkOptions = {
  own: OwnNetwork;
  network: RuntimeOptions['network'];
  /** Of this runtime alone, and lasting: what was added to which network of the host. */
  cacheDir: string;
  logger: Logger;
  /** How plugins are started. */
  start?: ProgramStarter;
  /** Told of each run of a plugin; left out, nobody is. */
  trace?: TraceWork;
};

/** Which network sandboxes get and why, for people. */
export type NetworkDescription = {
  network: string;
  source: 'host' | 'default';
  why: string;
  plugins: string[];
  /** Why sandboxes can have none now. */
  problem: string | undefined;
  /** What else is not as it should be. */
  warnings: string[];
};

/** The host's first valid CNI configuration, or our own bridge while it has none. A sandbox goes down by what it was set up by. */
export class ChosenNetwork implements Network {
  readonly #options: ChosenNetworkOptions;
  readonly #source: NetworkSource;
  readonly #cni: CniNetwork;
  readonly #own: OwnNetwork;

  constructor(options: ChosenNetworkOptions) {
    this.#options = options;
    this.#own = options.own;
    this.#source = new NetworkSource(options.network.confDir, options.logger);
    this.#cni = new CniNetwork({ ...options, binDirs: options.network.binDirs });
  }

  /** Only our own bridge needs to know nothing of a pod. */
  async prepare(sandboxId: string, netnsPath: string, signal: AbortSignal): Promise<boolean> {
    const { host } = await this.#source.choose();
    return host === undefined && (await this.#own.prepare(sandboxId, netnsPath, signal));
  }

  async setUp(request: NetworkRequest, signal: AbortSignal): Promise<NetworkResult> {
    const { host } = await this.#source.choose();
    if (host === undefined) return await this.#own.setUp(request, signal);
    // a configuration may have appeared since it was prepared
    if (this.#own.has(request.sandboxId)) await this.#own.disconnect(request.sandboxId);
    return await this.#cni.setUp(host.list, request, signal);
  }

  async tearDown(request: NetworkRequest, signal: AbortSignal): Promise<void> {
    const { host } = await this.#source.choose();
    // Earlier versions made our bridge by plugins, too: these pods have records and addresses.
    const bridged = this.#own.has(request.sandboxId);
    // Without a record the plugins are asked to make sure; those that are not installed have made nothing.
    const toAsk = host !== undefined && !bridged && this.#cni.missing(host.list) === undefined;
    if (this.#cni.has(request) || toAsk) await this.#cni.tearDown(request, host?.list, signal);
    await this.#own.tearDown(request, signal);
  }

  async status(signal?: AbortSignal): Promise<NetworkStatus> {
    const choice = await this.#source.choose();
    const status = await this.#statusOf(choice, signal);
    if (status.ready) return status;
    return { ...status, message: [status.message, ...describeRejected(choice)].join('; ') };
  }

  async list(): Promise<string[]> {
    return [...new Set([...(await this.#cni.list()), ...(await this.#own.list())])];
  }

  /** The default network takes the CIDR as its subnet; the host's own configuration is left as it is. */
  setPodCidr(cidr: string): Promise<void> {
    return this.#own.setPodCidr(cidr);
  }

  async close({ removeHostState }: { removeHostState: boolean }): Promise<void> {
    if (!removeHostState) return await this.#own.close({ removeHostState });
    const left = await this.list();
    if (left.length > 0)
      throw new PodwrightError('failed_precondition', `remove the network: sandboxes still use it: ${left.join(', ')}`);
    await this.#own.close({ removeHostState });
    await rm(join(this.#options.cacheDir, 'attachments'), { recursive: true, force: true });
  }

  /** What `podwright doctor` shows. */
  async describe(): Promise<NetworkDescription> {
    const choice = await this.#source.choose();
    const warnings = describeRejected(choice);
    const { confDir, bridge } = this.#options.network;
    if (choice.host === undefined) {
      const status = await this.#own.status();
      const problem = status.ready ? undefined : status.message;
      const subnets = this.#own.subnets.map(({ cidr }) => cidr).join(', ');
      const why = `${confDir} has no usable network configuration: bridge ${bridge} with ${subnets}`;
      return { network: bridge, source: 'default', why, plugins: [], problem, warnings };
    }
    const { list, path } = choice.host;
    const why = `${path} is the first usable network configuration`;
    const [plugins, problem] = [list.plugins.map(({ type }) => type), this.#cni.missing(list)];
    return { network: list.name, source: 'host', why, plugins, problem, warnings };
  }

  async #statusOf({ host }: NetworkChoice, signal: AbortSignal | undefined): Promise<NetworkStatus> {
    if (host === undefined) return await this.#own.status();
    try {
      await this.#cni.requireReady(host.list, signal);
      return { ready: true };
    } catch (error) {
      return { ready: false, reason: 'NetworkPluginNotReady', message: errorMessage(error) };
    }
  }
}

const describeRejected = ({ rejected }: NetworkChoice): string[] =>
  rejected.map(({ path, reason }) => `${path} cannot be used: ${reason}`);
