import { join } from 'node:path';
import {
  errorCode,
  errorMessage,
  type Logger,
  PodwrightError,
  type TraceWork,
  Undo,
  withTimeout,
} from '@podwright/base';
import {
  type Attachment,
  CniClient,
  FORGET,
  missingPlugins,
  missingPluginsError,
  type NetworkList,
  podAddresses,
  podAttachment,
  withoutIdlePlugins,
} from '@podwright/cni';
import type { ProgramStarter } from '@podwright/host';
import { NETWORK_STATUS_TIMEOUT_MS, NETWORK_TEAR_DOWN_TIMEOUT_MS } from '../../time-limits.ts';
import type { NetworkRequest, NetworkResult } from '../network.ts';

export type CniNetworkOptions = {
  binDirs: string[];
  /** A persistent directory used only by this container runtime. Records which network each sandbox was added to. */
  cacheDir: string;
  logger: Logger;
  /** Starts the CNI plugins. */
  start?: ProgramStarter;
  trace?: TraceWork;
};

/** The networks from the host's CNI configurations, set up by CNI plugins. */
export class CniNetwork {
  readonly #options: CniNetworkOptions;
  readonly #client: CniClient;

  constructor(options: CniNetworkOptions) {
    this.#options = options;
    this.#client = new CniClient({
      directories: options.binDirs,
      cacheDirectory: join(options.cacheDir, 'attachments'),
      start: options.start,
      trace: options.trace,
      onCall: ({ containerId, ...call }) =>
        options.logger.debug({ sandbox: containerId, ...call }, 'CNI plugin has run'),
    });
  }

  async setUp(list: NetworkList, request: NetworkRequest, signal: AbortSignal): Promise<NetworkResult> {
    const attachment = podAttachment(request);
    const result = await this.#client.add(withoutIdlePlugins(list, request), attachment, signal);
    const ips = podAddresses(result);
    if (ips.length > 0) return { ips, dnsServers: result.dns.nameservers };
    const error = new PodwrightError('internal', `network ${list.name} gave ${attachment.containerId} no address`);
    await this.#undo(attachment, error);
    throw error;
  }

  /** Whether there is a record of the sandbox's network attachment. */
  has(request: NetworkRequest): boolean {
    return this.#client.has(podAttachment(request));
  }

  /** Removes a sandbox from its network, using the configuration in its record, or `list` if the record is missing or damaged. */
  async tearDown(request: NetworkRequest, list: NetworkList | undefined, signal: AbortSignal): Promise<void> {
    const attachment = podAttachment(request);
    try {
      await this.#client.del(attachment, this.has(request) ? undefined : list, signal);
    } catch (error) {
      if (errorCode(error) !== 'data_loss') throw error;
      await this.#client.del(attachment, list ?? FORGET, signal);
    }
  }

  /** Returns the IDs of the sandboxes that have a record of a network attachment. */
  async list(): Promise<string[]> {
    return (await this.#client.attachments()).map(({ containerId }) => containerId);
  }

  /** Throws if the network's plugins currently cannot serve pods. */
  async requireReady(list: NetworkList, parent: AbortSignal | undefined): Promise<void> {
    using signal = withTimeout(parent, NETWORK_STATUS_TIMEOUT_MS, `get the status of network ${list.name}`);
    await this.#client.status(list, signal);
  }

  /** Returns a user-facing message about the network's missing plugins; `undefined` if all are installed. */
  missing(list: NetworkList): string | undefined {
    const { binDirs } = this.#options;
    const missing = missingPlugins(list, binDirs);
    return missing.length === 0 ? undefined : missingPluginsError(missing, binDirs).message;
  }

  /**
   * Removes a sandbox from the network after a step of its setup has failed. If the removal fails too, `list` still returns the sandbox.
   */
  async #undo(attachment: Attachment, cause: unknown): Promise<void> {
    const undo = new Undo();
    using signal = withTimeout(undefined, NETWORK_TEAR_DOWN_TIMEOUT_MS, 'remove a network whose setup failed');
    undo.add('CNI DEL', () => this.#client.del(attachment, undefined, signal));
    for (const { error } of await undo.run()) {
      const fields = { sandbox: attachment.containerId, error: errorMessage(error), cause: errorMessage(cause) };
      this.#options.logger.error(fields, 'cannot remove a network after its setup failed');
    }
  }
}
