import type { Dirent, Stats } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno } from '@podwright/base';

const MAX_PLUGIN_SOCKETS = 1000;

/** Maximum numbers of directories and sockets; the rest are ignored. */
const MAX_PLUGIN_DIRECTORIES = 1000;

export type FoundSockets = {
  /** Identity of each socket, by path. It changes when the socket is replaced. */
  sockets: Map<string, string>;
  /** `root` and all directories under it, which the caller watches. */
  directories: string[];
};

/**
 * Finds sockets under a directory by upstream's rules: includes symbolic links to sockets, does not follow links to directories, and
 * ignores dotfiles. Skips entries that disappear during the scan or exceed the limits.
 */
export async function findSockets(root: string): Promise<FoundSockets> {
  const found: FoundSockets = { sockets: new Map(), directories: [root] };
  for (const directory of found.directories) {
    for (const entry of await entriesOf(directory, directory === root)) {
      const path = join(directory, entry.name);
      if (entry.name.startsWith('.')) continue;
      if (entry.isDirectory()) {
        if (found.directories.length < MAX_PLUGIN_DIRECTORIES) found.directories.push(path);
        continue;
      }
      const stats = entry.isSocket() || entry.isSymbolicLink() ? await statIfThere(path) : undefined;
      if (stats?.isSocket() && found.sockets.size < MAX_PLUGIN_SOCKETS)
        found.sockets.set(path, `${stats.dev}:${stats.ino}:${stats.birthtimeMs}`);
    }
  }
  return found;
}

async function entriesOf(directory: string, isRoot: boolean): Promise<Dirent[]> {
  try {
    return await readdir(directory, { withFileTypes: true });
  } catch (error) {
    if (isRoot) throw error;
    return [];
  }
}

async function statIfThere(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (['ENOENT', 'ELOOP', 'ENOTDIR', 'EACCES'].some((code) => isErrno(error, code))) return undefined;
    throw error;
  }
}
