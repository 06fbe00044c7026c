import type { Dirent, Stats } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno } from '@podwright/base';

const MAX_PLUGIN_SOCKETS = 1000;

/** Maximum numbers of directories and sockets; any others are ignored. */
const MAX_PLUGIN_DIRECTORIES = 1000;

export type FoundSockets = {
  /** The identity of each socket, by path. It changes if the socket is replaced by another one. */
  sockets: Map<string, string>;
  /** `root` and the directories below it. */
  directories: string[];
};

/**
 * Finds sockets below a directory by upstream's rules: symbolic links to sockets count, links to directories are not followed, and names
 * that start with a dot are ignored. Entries that disappear during the scan or exceed the limits are skipped.
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
