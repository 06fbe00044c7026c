import { errorMessage, type Logger } from '@podwright/base';
import { type LoadedNetworks, loadNetworks, type NetworkList } from '@podwright/cni';

/** The network to use now; `rejected` are the files that cannot be used, with their reasons. */
export type NetworkChoice = {
  host: { path: string; list: NetworkList } | undefined;
  rejected: { path: string; reason: string }[];
};

/**
 * Chooses the host's first valid configuration. The directory is read anew each time (a few small files, under a
 * millisecond): a change is in force at once, and no lost file event can hide it. What is new is logged once.
 */
export class NetworkSource {
  readonly #directory: string;
  readonly #logger: Logger;
  #lastSeen = '';

  constructor(directory: string, logger: Logger) {
    this.#directory = directory;
    this.#logger = logger;
  }

  async choose(): Promise<NetworkChoice> {
    const { networks, rejected } = await this.#load();
    const choice = { host: networks[0], rejected };
    const seen = JSON.stringify(choice);
    if (seen !== this.#lastSeen) this.#tell(choice);
    this.#lastSeen = seen;
    return choice;
  }

  async #load(): Promise<LoadedNetworks> {
    try {
      return await loadNetworks(this.#directory);
    } catch (error) {
      return { networks: [], rejected: [{ path: this.#directory, reason: errorMessage(error) }] };
    }
  }

  #tell({ host, rejected }: NetworkChoice): void {
    for (const { path, reason } of rejected)
      this.#logger.warn({ path, reason }, 'network configuration cannot be used, trying the next');
    if (host === undefined) this.#logger.info({ directory: this.#directory }, 'using the default bridge network');
    else this.#logger.info({ path: host.path, network: host.list.name }, 'using the network of the host');
  }
}
