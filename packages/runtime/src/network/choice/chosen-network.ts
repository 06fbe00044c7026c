import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage, type Logger, PodwrightError, type TraceWork } from '@podwright/base';
import type { ProgramStarter } from '@podwright/host';
import type { RuntimeOptions } from '../../options.ts';
import type { Subnet } from '../bridge/subnet.ts';
import { CniNetwork } from '../cni/cni-network.ts';
import type { Network, NetworkRequest, NetworkResult, NetworkStatus } from '../network.ts';
import { type NetworkChoice, NetworkSource } from './network-source.ts';

/** The network used while the host has no CNI configuration. */
export type OwnNetwork = Network & {
  readonly subnets: readonly Subnet[];
  requireOwnBridge(): Promise<void>;
  prepare(sandboxId: string, netnsPath: string, signal: AbortSignal): Promise<boolean>;
  /** Whether the sandbox has a veth pair or an address. */
  has(sandboxId: string): boolean;
  /** Removes the veth pair prepared for a pod that turns out to use a different network. */
  disconnect(sandboxId: string): Promise<void>;
};

export type ChosenNetworkOptions = {
  own: OwnNetwork;
  network: RuntimeOptions['network'];
  /** A persistent directory used only by this container runtime. Records which CNI network each sandbox was added to. */
  cacheDir: string;
  logger: Logger;
  /** Starts the CNI plugins. */
  start?: ProgramStarter;
  trace?: TraceWork;
};

/** User-facing description of the network that sandboxes get, and why. */
export type NetworkDescription = {
  network: string;
  source: 'host' | 'default';
  why: string;
  plugins: string[];
  /** Why sandboxes currently cannot get a network; undefined if they can. */
  problem: string | undefined;
  /** Problems that do not prevent sandboxes from getting a network, such as invalid configuration files. */
  warnings: string[];
};

/**
 * The network selected by `NetworkSource`: one of the host's CNI configurations, or the default bridge. A sandbox is always torn down by
 * the network that set it up.
 */
export class ChosenNetwork implements Network {
  readonly #options: ChosenNetworkOptions;
  readonly #source: NetworkSource;
  readonly #cni: CniNetwork;
  readonly #own: OwnNetwork;

  constructor(options: ChosenNetworkOptions) {
    this.#options = options;
    this.#own = options.own;
    const { confDir: directory, bridge, mode = 'follow' } = options.network;
    const record = join(options.cacheDir, 'choice.json');
    this.#source = new NetworkSource({ directory, mode, record, bridge, logger: options.logger });
    this.#cni = new CniNetwork({ ...options, binDirs: options.network.binDirs });
  }

  /**
   * Must be called first when a container runtime starts. Throws `failed_precondition` if the mode is `bridge` or `keep`, pods would get
   * the default bridge, and that bridge belongs to another Podwright node.
   */
  async begin(): Promise<void> {
    await this.#source.begin();
    const { host, problem } = await this.#source.choose();
    const { mode } = this.#options.network;
    const isForGood = mode === 'bridge' || mode === 'keep';
    if (isForGood && host === undefined && problem === undefined) await this.#own.requireOwnBridge();
  }

  /** Supported only by the default bridge: CNI plugins need the pod's name and annotations, which are not available yet. */
  async prepare(sandboxId: string, netnsPath: string, signal: AbortSignal): Promise<boolean> {
    const { host, problem } = await this.#source.choose();
    if (host !== undefined || problem !== undefined) return false;
    return await this.#own.prepare(sandboxId, netnsPath, signal);
  }

  async setUp(request: NetworkRequest, signal: AbortSignal): Promise<NetworkResult> {
    const { host, problem } = await this.#source.choose();
    if (problem !== undefined) throw new PodwrightError('failed_precondition', problem);
    if (host === undefined) return await this.#own.setUp(request, signal);
    // the sandbox is already attached to the default bridge if a CNI configuration has appeared since `prepare`
    if (this.#own.has(request.sandboxId)) await this.#own.disconnect(request.sandboxId);
    return await this.#cni.setUp(host.list, request, signal);
  }

  async tearDown(request: NetworkRequest, signal: AbortSignal): Promise<void> {
    const { host } = await this.#source.choose();
    // Earlier versions of Podwright set up the default bridge through CNI plugins. Their pods have both CNI records and addresses on the
    // bridge; a pod with only addresses was never set up by CNI plugins.
    const bridged = this.#own.has(request.sandboxId);
    // Without a record, call the plugins anyway to be safe, unless they are not installed and so cannot have set anything up.
    const callAnyway = host !== undefined && !bridged && this.#cni.missing(host.list) === undefined;
    if (this.#cni.has(request) || callAnyway) await this.#cni.tearDown(request, host?.list, signal);
    await this.#own.tearDown(request, signal);
  }

  async status(signal?: AbortSignal): Promise<NetworkStatus> {
    const choice = await this.#source.choose();
    const status = await this.#statusOf(choice, signal);
    const { unused } = choice;
    if (status.ready) return unused === undefined ? status : { ...status, reason: NOT_USED, message: unused };
    return { ...status, message: [status.message, ...describeRejected(choice)].join('; ') };
  }

  async list(): Promise<string[]> {
    return [...new Set([...(await this.#cni.list()), ...(await this.#own.list())])];
  }

  /** Changes the subnet of the default network. Does not affect the host's CNI configuration. */
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

  /** Returns the description printed by `podwright doctor`. */
  async describe(): Promise<NetworkDescription> {
    const choice = await this.#source.choose();
    const warnings = [choice.unused ?? [], describeRejected(choice)].flat();
    const { bridge } = this.#options.network;
    if (choice.problem !== undefined)
      return { network: '', source: 'host', why: choice.why, plugins: [], problem: choice.problem, warnings };
    if (choice.host === undefined) {
      const status = await this.#own.status();
      const problem = status.ready ? undefined : status.message;
      const subnets = this.#own.subnets.map(({ cidr }) => cidr).join(', ');
      const why = `${choice.why}: bridge ${bridge} with ${subnets}`;
      return { network: bridge, source: 'default', why, plugins: [], problem, warnings };
    }
    const { why } = choice;
    const { list } = choice.host;
    const [plugins, problem] = [list.plugins.map(({ type }) => type), this.#cni.missing(list)];
    return { network: list.name, source: 'host', why, plugins, problem, warnings };
  }

  async #statusOf({ host, problem }: NetworkChoice, signal: AbortSignal | undefined): Promise<NetworkStatus> {
    if (problem !== undefined) return { ready: false, reason: 'NetworkPluginNotReady', message: problem };
    if (host === undefined) return await this.#own.status();
    try {
      await this.#cni.requireReady(host.list, signal);
      return { ready: true };
    } catch (error) {
      return { ready: false, reason: 'NetworkPluginNotReady', message: errorMessage(error) };
    }
  }
}

/** Reason used in the network status and the node's event if a CNI configuration is not used. */
const NOT_USED = 'NetworkConfigurationNotUsed';

const describeRejected = ({ rejected }: NetworkChoice): string[] =>
  rejected.map(({ path, reason }) => `${path} cannot be used: ${reason}`);
