import { mkdir, rm } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { errorCode, errorMessage, isErrno, type Logger, PRIVATE_DIRECTORY } from '@podwright/base';
import { type LoadedNetworks, loadNetworks, type NetworkList } from '@podwright/cni';
import { readJsonFile, writeFileDurable } from '@podwright/host';
import type { NetworkMode } from '../../options.ts';

/** Maximum size in bytes of the file that records the chosen network; the file holds only a file name. */
const MAX_CHOICE_BYTES = 4096;

/** A usable CNI configuration, with the path of its file. */
type HostNetwork = { path: string; list: NetworkList };

/** The network to use now. `rejected` lists unusable configuration files and the reasons. */
export type NetworkChoice = {
  /** The CNI configuration to use; undefined if pods get the default bridge, or no network because of `problem`. */
  host: HostNetwork | undefined;
  why: string;
  /** Why pods cannot get a network. */
  problem?: string;
  /** A warning about a CNI configuration that is ignored because of the saved choice. */
  unused?: string;
  rejected: { path: string; reason: string }[];
};

/** The choice made at the first start: the default bridge, or a file in the CNI configuration directory. */
type SavedChoice = { use: 'bridge' } | { use: 'cni'; file: string };

export type NetworkSourceOptions = {
  directory: string;
  mode: NetworkMode;
  /** Path of the file with the saved choice. */
  record: string;
  bridge: string;
  logger: Logger;
};

const HOW_TO_CHANGE =
  'set mode in the table [network] of the configuration, to "bridge" or "cni", and restart the node';

/**
 * Chooses between the host's CNI configurations and the default bridge. Rereads the directory each time (a few small files, in under a
 * millisecond), so that changes take effect immediately and cannot be missed because of a lost file event. Logs each change once.
 */
export class NetworkSource {
  readonly #options: NetworkSourceOptions;
  #lastSeen = '';

  constructor(options: NetworkSourceOptions) {
    this.#options = options;
  }

  /**
   * Must be called when a container runtime starts. In `keep` mode, saves the choice at the first start; in any other mode, deletes a saved
   * choice.
   */
  async begin(): Promise<void> {
    const { mode, record } = this.#options;
    if (mode !== 'keep') return await rm(record, { force: true });
    if ((await this.#readSaved()) !== undefined) return;
    const { networks } = await this.#load();
    const choice: SavedChoice = networks[0] ? { use: 'cni', file: basename(networks[0].path) } : { use: 'bridge' };
    try {
      await mkdir(dirname(record), { recursive: true, mode: PRIVATE_DIRECTORY });
      await writeFileDurable(record, JSON.stringify(choice));
    } catch (error) {
      if (errorCode(error) !== 'resource_exhausted') throw error; // on a full disk, the next start saves its choice
      this.#options.logger.warn({ record, error: errorMessage(error) }, 'cannot save the choice of the network');
    }
  }

  async choose(): Promise<NetworkChoice> {
    const { networks, rejected } = await this.#load();
    const choice = { ...(await this.#decide(networks)), rejected };
    const seen = JSON.stringify(choice);
    if (seen !== this.#lastSeen) this.#report(choice);
    this.#lastSeen = seen;
    return choice;
  }

  async #decide(networks: HostNetwork[]): Promise<Omit<NetworkChoice, 'rejected'>> {
    const { directory, mode } = this.#options;
    const [first] = networks;
    const saved = mode === 'keep' ? await this.#readSaved() : undefined;
    if (saved !== undefined) return this.#applySaved(saved, networks);
    if (mode === 'bridge') return { host: undefined, why: 'network.mode is "bridge"' };
    if (first !== undefined) return { host: first, why: `${first.path} is the first usable network configuration` };
    const why = `${directory} has no usable network configuration`;
    if (mode === 'cni') return { host: undefined, why, problem: `${why}, and network.mode is "cni"` };
    return { host: undefined, why };
  }

  #applySaved(saved: SavedChoice, networks: HostNetwork[]): Omit<NetworkChoice, 'rejected'> {
    const { directory, bridge } = this.#options;
    const [first] = networks;
    const unusedFirst = (chosen: string) =>
      first &&
      `${first.path} (network ${first.list.name}) is not used: pods stay on ${chosen}, which was chosen at the node's first start; to change that, ${HOW_TO_CHANGE}`;
    if (saved.use === 'bridge')
      return { host: undefined, why: "chosen at the node's first start", unused: unusedFirst(`bridge ${bridge}`) };
    const path = `${directory}/${saved.file}`;
    const why = `${path}, chosen at the node's first start`;
    const host = networks.find((one) => basename(one.path) === saved.file);
    if (host === undefined)
      return { host, why, problem: `${why}, is no longer usable; put it back, or ${HOW_TO_CHANGE}` };
    return { host, why, unused: host === first ? undefined : unusedFirst(`network ${host.list.name} of ${path}`) };
  }

  /** Returns the saved choice; `undefined` if the file is missing or damaged. */
  async #readSaved(): Promise<SavedChoice | undefined> {
    try {
      const choice = await readJsonFile(this.#options.record, MAX_CHOICE_BYTES);
      const { use, file } = (choice ?? {}) as { use?: string; file?: string };
      if (use === 'cni' && typeof file === 'string') return { use, file };
      return use === 'bridge' ? { use } : undefined;
    } catch (error) {
      if (isErrno(error, 'ENOENT') || errorCode(error) === 'data_loss') return undefined;
      throw error;
    }
  }

  async #load(): Promise<LoadedNetworks> {
    const { directory, mode } = this.#options;
    if (mode === 'bridge') return { networks: [], rejected: [] };
    try {
      return await loadNetworks(directory);
    } catch (error) {
      return { networks: [], rejected: [{ path: directory, reason: errorMessage(error) }] };
    }
  }

  #report({ host, why, problem, unused, rejected }: NetworkChoice): void {
    const { logger } = this.#options;
    for (const { path, reason } of rejected) logger.warn({ path, reason }, 'network configuration cannot be used');
    if (unused !== undefined) logger.warn({ unused }, 'a network configuration has appeared that is not used');
    if (problem !== undefined) logger.warn({ problem }, 'pods can have no network');
    else if (host === undefined) logger.info({ why }, 'using the default bridge network');
    else logger.info({ path: host.path, network: host.list.name, why }, 'using the network of the host');
  }
}
