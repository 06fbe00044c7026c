import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  errorCode,
  errorMessage,
  isErrno,
  type Logger,
  makePrivateDirectory,
  PodwrightError,
  type ProgramStarter,
  Undo,
  withTimeout,
  writeFileAtomic,
} from '@podwright/base';
import { type Attachment, CniClient, missingPlugins, missingPluginsError, type NetworkList } from '@podwright/cni';
import type { RuntimeOptions } from '../../options.ts';
import { NETWORK_STATUS_TIMEOUT_MS, NETWORK_TEAR_DOWN_TIMEOUT_MS } from '../../time-limits.ts';
import { DefaultBridge } from '../bridge/default-bridge.ts';
import { parseSubnets } from '../bridge/subnet.ts';
import type { Network, NetworkRequest, NetworkResult, NetworkStatus } from '../network.ts';
import { attachmentOf, networkResultOf, publishedPorts } from './attachment.ts';
import { type NetworkChoice, NetworkSource } from './network-source.ts';

export type CniNetworkOptions = {
  network: RuntimeOptions['network'];
  /** Of this runtime alone, and lost at a reboot as the bridge is: addresses of the default network. */
  stateDir: string;
  /** Of this runtime alone, and lasting: what was added to which network. */
  cacheDir: string;
  logger: Logger;
  /** How plugins are started. */
  start?: ProgramStarter;
};

/** Which network sandboxes get and why, for people. */
export type NetworkDescription = {
  network: string;
  source: 'host' | 'default';
  why: string;
  plugins: string[];
  warnings: string[];
};

/** Makes the sandboxes' network from CNI plugins. Nothing on the host is changed before the first `setUp`. */
export async function createNetwork(options: CniNetworkOptions): Promise<CniNetwork> {
  const { bridge, subnet } = options.network;
  if (!/^[A-Za-z0-9][A-Za-z0-9_.-]{0,14}$/.test(bridge))
    throw new PodwrightError('invalid_argument', `bridge name "${bridge}": use at most 15 letters, digits, _ . and -`);
  const podCidr = await readPodCidr(options.stateDir);
  const subnets = parseSubnets(podCidr ?? subnet);
  const { stateDir, logger } = options;
  return new CniNetwork(options, new DefaultBridge({ bridge, subnets, stateDir, logger }));
}

/** `Network` by CNI plugins: the host's first valid configuration, or our own bridge while it has none. */
export class CniNetwork implements Network {
  readonly #options: CniNetworkOptions;
  readonly #bridge: DefaultBridge;
  readonly #source: NetworkSource;
  readonly #client: CniClient;

  constructor(options: CniNetworkOptions, bridge: DefaultBridge) {
    this.#options = options;
    this.#bridge = bridge;
    this.#source = new NetworkSource(options.network.confDir, options.logger);
    this.#client = new CniClient({
      directories: options.network.binDirs,
      cacheDirectory: attachmentsPath(options.cacheDir),
      start: options.start,
      onCall: ({ containerId, ...call }) =>
        options.logger.debug({ sandbox: containerId, ...call }, 'CNI plugin has run'),
    });
  }

  async setUp(request: NetworkRequest, signal: AbortSignal): Promise<NetworkResult> {
    const { host } = await this.#source.choose();
    if (host !== undefined)
      return await this.#add(withoutIdlePlugins(host.list, request), attachmentOf(request), signal);
    const list = this.#bridge.list({
      portMappings: publishedPorts(request.portMappings).length > 0,
      bandwidth: request.bandwidth !== undefined,
    });
    await this.#bridge.claim();
    const [added, rules] = await Promise.allSettled([
      this.#add(list, attachmentOf(request), signal),
      this.#bridge.ensureRules(),
    ]);
    if (added.status === 'rejected') throw added.reason;
    if (rules.status === 'fulfilled') return added.value;
    await this.#undo(attachmentOf(request), rules.reason);
    throw rules.reason;
  }

  /** The record of `setUp` says what to remove; without one, whatever the host or the default network may still hold. */
  async tearDown(request: NetworkRequest, signal: AbortSignal): Promise<void> {
    const attachment = attachmentOf(request);
    if (this.#client.has(attachment)) return await this.#delRecorded(request, signal);
    if ((await this.#bridge.holders()).has(request.sandboxId))
      return await this.#client.del(withSomeMapping(attachment), this.#assumedList(request), signal);
    const { host } = await this.#source.choose();
    if (host !== undefined) await this.#client.del(attachment, host.list, signal);
  }

  /** For a damaged record the configuration of today has to do. */
  async #delRecorded(request: NetworkRequest, signal: AbortSignal): Promise<void> {
    const attachment = attachmentOf(request);
    try {
      await this.#client.del(attachment, undefined, signal);
    } catch (error) {
      if (errorCode(error) !== 'data_loss') throw error;
      const { host } = await this.#source.choose();
      await this.#client.del(attachment, host?.list ?? this.#assumedList(request), signal);
    }
  }

  async status(signal?: AbortSignal): Promise<NetworkStatus> {
    const choice = await this.#source.choose();
    try {
      await (choice.host === undefined ? this.#requireDefault() : this.#requireHost(choice.host.list, signal));
      return { ready: true };
    } catch (error) {
      const message = [errorMessage(error), ...describeRejected(choice)].join('; ');
      return { ready: false, reason: 'NetworkPluginNotReady', message };
    }
  }

  async list(): Promise<string[]> {
    const [attachments, holders] = await Promise.all([this.#client.attachments(), this.#bridge.holders()]);
    return [...new Set([...attachments.map(({ containerId }) => containerId), ...holders])];
  }

  /** The default network takes the CIDR as its subnet; the host's own configuration is left as it is. */
  async setPodCidr(cidr: string): Promise<void> {
    if (cidr === '') return;
    const subnets = parseSubnets(cidr);
    if (cidr === this.#bridge.subnets.map((subnet) => subnet.cidr).join(',')) return;
    if ((await this.#bridge.holders()).size > 0)
      this.#options.logger.warn({ cidr }, 'pod CIDR changes while pods have addresses: restart these pods');
    makePrivateDirectory(this.#options.stateDir);
    await writeFileAtomic(podCidrPath(this.#options.stateDir), cidr);
    this.#bridge.setSubnets(subnets);
  }

  async close({ removeHostState }: { removeHostState: boolean }): Promise<void> {
    if (!removeHostState) return;
    const left = await this.list();
    if (left.length > 0)
      throw new PodwrightError('failed_precondition', `remove the network: sandboxes still use it: ${left.join(', ')}`);
    await this.#bridge.remove();
    await rm(attachmentsPath(this.#options.cacheDir), { recursive: true, force: true });
    await rm(podCidrPath(this.#options.stateDir), { force: true });
  }

  /** What `podwright doctor` shows. */
  async describe(): Promise<NetworkDescription> {
    const choice = await this.#source.choose();
    const list = choice.host?.list ?? this.#bridge.list({ portMappings: true, bandwidth: false });
    const { binDirs, confDir } = this.#options.network;
    const missing = missingPlugins(list, binDirs);
    const warnings = describeRejected(choice);
    if (missing.length > 0) warnings.unshift(missingPluginsError(missing, binDirs).message);
    const subnets = this.#bridge.subnets.map(({ cidr }) => cidr).join(', ');
    const why =
      choice.host === undefined
        ? `${confDir} has no usable network configuration: bridge ${this.#bridge.bridge} with ${subnets}`
        : `${choice.host.path} is the first usable network configuration`;
    const source = choice.host === undefined ? 'default' : 'host';
    return { network: list.name, source, why, plugins: list.plugins.map(({ type }) => type), warnings };
  }

  async #add(list: NetworkList, attachment: Attachment, signal: AbortSignal): Promise<NetworkResult> {
    const result = networkResultOf(await this.#client.add(list, attachment, signal));
    if (result.ips.length > 0) return result;
    const error = new PodwrightError('internal', `network ${list.name} gave ${attachment.containerId} no address`);
    await this.#undo(attachment, error);
    throw error;
  }

  /** Removes what plugins have made after something else failed; what cannot be removed stays in `list`. */
  async #undo(attachment: Attachment, cause: unknown): Promise<void> {
    const undo = new Undo();
    using signal = withTimeout(undefined, NETWORK_TEAR_DOWN_TIMEOUT_MS, 'remove a network that failed');
    undo.add('CNI DEL', () => this.#client.del(attachment, undefined, signal));
    for (const { error } of await undo.run()) {
      const fields = { sandbox: attachment.containerId, error: errorMessage(error), cause: errorMessage(cause) };
      this.#options.logger.error(fields, 'a network that failed could not be removed either');
    }
  }

  #assumedList(request: NetworkRequest): NetworkList {
    return this.#bridge.list({ portMappings: true, bandwidth: request.bandwidth !== undefined });
  }

  async #requireDefault(): Promise<void> {
    const { binDirs } = this.#options.network;
    const plugins = missingPlugins(this.#bridge.list({ portMappings: false, bandwidth: false }), binDirs);
    if (plugins.length > 0) throw missingPluginsError(plugins, binDirs);
    const filter = await this.#bridge.missingFilter();
    if (filter !== undefined) throw new PodwrightError('failed_precondition', filter);
    await this.#bridge.recheckRules();
  }

  async #requireHost(list: NetworkList, parent: AbortSignal | undefined): Promise<void> {
    using signal = withTimeout(parent, NETWORK_STATUS_TIMEOUT_MS, `ask for the status of network ${list.name}`);
    await this.#client.status(list, signal);
  }
}

/** `portmap` removes a sandbox's rules by its id, but only if it is told of some mapping. */
function withSomeMapping(attachment: Attachment): Attachment {
  const portMappings = [{ protocol: 'tcp', containerPort: 1, hostPort: 1 }];
  return { ...attachment, capabilityArgs: { portMappings, ...attachment.capabilityArgs } };
}

const describeRejected = ({ rejected }: NetworkChoice): string[] =>
  rejected.map(({ path, reason }) => `${path} cannot be used: ${reason}`);

const attachmentsPath = (cacheDir: string): string => join(cacheDir, 'attachments');
const podCidrPath = (stateDir: string): string => join(stateDir, 'pod-cidr');

async function readPodCidr(stateDir: string): Promise<string | undefined> {
  try {
    return (await readFile(podCidrPath(stateDir), 'utf8')).trim();
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/**
 * `portmap` passes the result on when it has no ports to map, so for most pods it is not started at all. The record of
 * the attachment holds the list as it was used, and DEL goes by that.
 */
function withoutIdlePlugins(list: NetworkList, request: NetworkRequest): NetworkList {
  if (publishedPorts(request.portMappings).length > 0) return list;
  const plugins = list.plugins.filter(({ type }, index) => index === 0 || type !== 'portmap');
  return { ...list, plugins };
}
