import { open, readdir } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { errorMessage, isErrno, PodwrightError } from '@podwright/base';
import { MAX_FILE_BYTES, MAX_FILES } from './limits.ts';
import {
  type NetworkList,
  type PluginConfig,
  parseNetworkList,
  parsePlugin,
  parseSinglePlugin,
} from './network-list.ts';

/** The networks configured in a directory, in lexical order of their file names. The first one is used. */
export type LoadedNetworks = {
  networks: { path: string; list: NetworkList }[];
  /** Configuration files that cannot be used, and why. */
  rejected: { path: string; reason: string }[];
};

/**
 * Reads the `.conf`, `.conflist` and `.json` files of a directory in lexical order. Invalid files are added to `rejected` and skipped. A
 * missing directory counts as empty. Throws only if the directory cannot be read.
 */
export async function loadNetworks(directory: string): Promise<LoadedNetworks> {
  const loaded: LoadedNetworks = { networks: [], rejected: [] };
  for (const path of await listFiles(directory, ['.conf', '.conflist', '.json'])) {
    try {
      loaded.networks.push({ path, list: await readNetwork(directory, path) });
    } catch (error) {
      loaded.rejected.push({ path, reason: errorMessage(error) });
    }
  }
  return loaded;
}

async function readNetwork(directory: string, path: string): Promise<NetworkList> {
  const text = await readBounded(path);
  if (extname(path) !== '.conflist') return parseSinglePlugin(text);
  const list = parseNetworkList(text);
  if (!list.loadOnlyInlinedPlugins) list.plugins.push(...(await readPluginDirectory(join(directory, list.name))));
  if (list.plugins.length === 0)
    throw new PodwrightError('invalid_argument', `the list has no plugins, and ${join(directory, list.name)} has none`);
  return list;
}

/** Reads the plugins in the subdirectory named after the network, which are appended to its list (spec 1.1, section 1). */
async function readPluginDirectory(directory: string): Promise<PluginConfig[]> {
  const plugins: PluginConfig[] = [];
  for (const path of await listFiles(directory, ['.conf'])) {
    try {
      plugins.push(parsePlugin(await readBounded(path)));
    } catch (error) {
      throw new PodwrightError('invalid_argument', `${path}: ${errorMessage(error)}`, { cause: error });
    }
  }
  return plugins;
}

async function listFiles(directory: string, extensions: string[]): Promise<string[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true });
    const names = entries.filter((entry) => !entry.isDirectory() && extensions.includes(extname(entry.name)));
    if (names.length > MAX_FILES)
      throw new PodwrightError('resource_exhausted', `${directory} has more than ${MAX_FILES} network configurations`);
    // sorted in byte order regardless of the locale, as in other CNI runtimes
    return names.map((entry) => join(directory, entry.name)).sort();
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return [];
    throw error;
  }
}

async function readBounded(path: string): Promise<string> {
  const file = await open(path);
  try {
    const status = await file.stat();
    if (!status.isFile()) throw new PodwrightError('invalid_argument', 'it is not a regular file');
    if (status.size > MAX_FILE_BYTES)
      throw new PodwrightError('resource_exhausted', `it has ${status.size} bytes, more than ${MAX_FILE_BYTES}`);
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}
