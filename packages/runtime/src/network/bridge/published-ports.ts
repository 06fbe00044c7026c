import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage, isErrno, type Logger, makePrivateDirectory } from '@podwright/base';
import { readJsonFile, writeFileAtomic } from '@podwright/host';
import { type PortRule, type PublishedPorts, requestedRules } from './port-rules.ts';

/** Maximum size of a record: enough for all 65,535 ports at up to 150 bytes each. */
const MAX_RECORD_BYTES = 16 << 20;

/**
 * A sandbox's published ports. `order` increases with each publication: if two sandboxes request the same port, the one that published it
 * first keeps it.
 */
type Publication = { order: number; rules: PortRule[] };

/**
 * Stores which ports are published, in one file per sandbox. Files are written before rules are changed, so that the rules can be restored
 * after an interruption at any point. A reboot clears the directory, along with the rules.
 */
export class PublishedPortsStore {
  readonly #directory: string;
  readonly #logger: Logger;
  #loaded: Promise<Map<string, Publication>> | undefined;

  constructor(directory: string, logger: Logger) {
    this.#directory = directory;
    this.#logger = logger;
  }

  /** Returns the IDs of sandboxes with published ports, in order of publication. */
  async ids(): Promise<string[]> {
    return [...(await this.#load()).keys()];
  }

  /** Returns the rules requested by each sandbox, in order of publication. */
  async requested(): Promise<PortRule[][]> {
    return [...(await this.#load()).values()].map(({ rules }) => rules);
  }

  /** Records a sandbox's published ports. If any is invalid, throws `invalid_argument` and writes nothing. */
  async set(sandboxId: string, ports: PublishedPorts): Promise<void> {
    const rules = requestedRules(sandboxId, ports);
    const publications = await this.#load();
    const order = Math.max(0, ...[...publications.values()].map((publication) => publication.order)) + 1;
    makePrivateDirectory(this.#directory);
    await writeFileAtomic(this.#path(sandboxId), JSON.stringify({ order, ...ports }));
    publications.delete(sandboxId); // moves the sandbox to the end of the map
    publications.set(sandboxId, { order, rules });
  }

  async delete(sandboxId: string): Promise<void> {
    await rm(this.#path(sandboxId), { force: true });
    (await this.#load()).delete(sandboxId);
  }

  async clear(): Promise<void> {
    await rm(this.#directory, { recursive: true, force: true });
    this.#loaded = undefined;
  }

  #load(): Promise<Map<string, Publication>> {
    this.#loaded ??= this.#readAll().catch((error) => {
      this.#loaded = undefined;
      throw error;
    });
    return this.#loaded;
  }

  async #readAll(): Promise<Map<string, Publication>> {
    const names = await readdir(this.#directory).catch((error) => {
      if (isErrno(error, 'ENOENT')) return [];
      throw error;
    });
    const isWhole = (name: string) => name.endsWith(SUFFIX);
    const partial = names.filter((name) => !isWhole(name)).map((name) => join(this.#directory, name));
    await Promise.all(partial.map((path) => rm(path, { force: true })));
    const entries = await Promise.all(names.filter(isWhole).map((name) => this.#read(name)));
    return new Map(entries.sort(([, a], [, b]) => a.order - b.order));
  }

  /** Reads a record. For a damaged file, returns the sandbox's ID without any ports, so that the record can be removed like any other. */
  async #read(name: string): Promise<[string, Publication]> {
    const sandboxId = name.slice(0, -SUFFIX.length);
    try {
      const record = await readJsonFile(join(this.#directory, name), MAX_RECORD_BYTES);
      const { order, ...ports } = record as { order: number } & PublishedPorts;
      return [sandboxId, { order, rules: requestedRules(sandboxId, ports) }];
    } catch (error) {
      this.#logger.warn({ sandbox: sandboxId, error: errorMessage(error) }, 'record of published ports is damaged');
      return [sandboxId, { order: 0, rules: [] }];
    }
  }

  #path(sandboxId: string): string {
    return join(this.#directory, `${sandboxId}${SUFFIX}`);
  }
}

/** Suffix of complete records. Partially written files have a different suffix. */
const SUFFIX = '.json';
