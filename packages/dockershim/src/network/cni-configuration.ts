import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { CONTAINER_FILE, errorMessage, isErrno, type Logger, PodwrightError } from '@podwright/base';
import { loadNetworks, missingPlugins, missingPluginsError, type NetworkList } from '@podwright/cni';
import { namesIn, writeFileAtomic } from '@podwright/host';
import { MAX_TEMPLATE_BYTES } from '../limits.ts';
import { renderTemplate, type TemplateValues } from './configuration-template.ts';

/** File name suffix of network configuration templates: `NAME.conflist.template` is the template of `NAME.conflist`. */
const TEMPLATE_SUFFIX = '.template';

type Rejected = { path: string; reason: string };

/** The network to use or, if there is none, the rejected configuration files with the reasons. */
type Choice = { list: NetworkList; path: string } | { rejected: Rejected[] };

/**
 * Chooses the default network: the first valid configuration in a directory whose plugins are installed. The directory is reread on every
 * call, so changes take effect immediately. A changed choice is logged.
 */
export class CniConfiguration {
  readonly #directory: string;
  readonly #binDirs: string[];
  readonly #logger: Logger;
  #lastSeen = '';

  constructor(directory: string, binDirs: string[], logger: Logger) {
    this.#directory = directory;
    this.#binDirs = binDirs;
    this.#logger = logger;
  }

  /**
   * Returns the default network. If there is none, throws `failed_precondition` listing every file that was tried and why it cannot be
   * used.
   */
  async require(): Promise<NetworkList> {
    const choice = await this.#choose();
    if ('list' in choice) return choice.list;
    const tried = choice.rejected.map(({ path, reason }) => `${path}: ${reason}`);
    const reasons = tried.length === 0 ? '' : `: ${tried.join('; ')}`;
    throw new PodwrightError(
      'failed_precondition',
      `no network configuration in ${this.#directory} can be used${reasons}`,
    );
  }

  /** Returns the default network, or `undefined` if there is none. */
  async find(): Promise<NetworkList | undefined> {
    const choice = await this.#choose();
    return 'list' in choice ? choice.list : undefined;
  }

  /** Renders each template in the directory (`NAME.conflist.template` to `NAME.conflist`) and writes the results that have changed. */
  async renderTemplates(values: TemplateValues): Promise<void> {
    const names = (await namesIn(this.#directory)).filter((name) => /\.(conf|conflist|json)\.template$/.test(name));
    for (const name of names.sort()) {
      const path = join(this.#directory, name);
      try {
        const text = renderTemplate(await readTemplate(path), values);
        if (text !== undefined) await this.#write(path.slice(0, -TEMPLATE_SUFFIX.length), text);
      } catch (error) {
        this.#logger.warn({ path, reason: errorMessage(error) }, 'network configuration template cannot be used');
      }
    }
  }

  async #write(path: string, text: string): Promise<void> {
    if ((await readFile(path, 'utf8').catch(() => undefined)) === text) return;
    await writeFileAtomic(path, text, CONTAINER_FILE);
    this.#logger.info({ path }, 'wrote a network configuration from its template');
  }

  async #choose(): Promise<Choice> {
    const { networks, rejected, used } = await this.#load();
    const seen = JSON.stringify([used, rejected]);
    if (seen !== this.#lastSeen) {
      for (const { path, reason } of rejected)
        this.#logger.warn({ path, reason }, 'network configuration cannot be used, trying the next');
      if (used !== undefined) this.#logger.info(used, 'using a network configuration');
    }
    this.#lastSeen = seen;
    return networks ?? { rejected };
  }

  async #load() {
    const loaded = await loadNetworks(this.#directory).catch((error: unknown) => {
      return { networks: [], rejected: [{ path: this.#directory, reason: errorMessage(error) }] };
    });
    const rejected: Rejected[] = [...loaded.rejected];
    for (const network of loaded.networks) {
      const missing = missingPlugins(network.list, this.#binDirs);
      if (missing.length === 0) {
        const before = rejected.filter(({ path }) => path < network.path);
        return { networks: network, rejected: before, used: { path: network.path, network: network.list.name } };
      }
      rejected.push({ path: network.path, reason: missingPluginsError(missing, this.#binDirs).message });
    }
    return { networks: undefined, rejected, used: undefined };
  }
}

async function readTemplate(path: string): Promise<string> {
  const status = await stat(path).catch((error) => {
    throw isErrno(error, 'ENOENT') ? new PodwrightError('not_found', 'the file does not exist any more') : error;
  });
  if (!status.isFile() || status.size > MAX_TEMPLATE_BYTES)
    throw new PodwrightError('invalid_argument', `not a regular file of at most ${MAX_TEMPLATE_BYTES} bytes`);
  return await readFile(path, 'utf8');
}
