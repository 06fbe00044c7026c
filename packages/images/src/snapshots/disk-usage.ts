import { closeSync, constants, type Dir, lstatSync, opendirSync, openSync, type Stats } from 'node:fs';
import { EventLoopBudget } from '@podwright/base';
import { hasErrno } from '@podwright/system';
import type { SnapshotUsage } from './snapshotter.ts';

const BLOCK_BYTES = 512;
/** Directory entries to read at once. */
const BATCH_ENTRIES = 256;
/** Paths up to this length, in bytes, are passed to the kernel unchanged; PATH_MAX is 4096. */
const MAX_PATH_BYTES = 3500;
/** Levels to descend: no path within PATH_MAX has more, and opening a directory takes time proportional to its depth. */
const MAX_DEPTH = 2048;
const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;

/** A directory, as a linked list of names up to the top: full paths of very deep ones would take too much memory. */
type Location = { parent: Location; name: Buffer; depth: number } | undefined;

/**
 * The size of a tree: the disk space that it takes, the number of names in it (each hard link counts), and the total length of its
 * files, including holes and before compression.
 */
export type TreeMeasure = { usage: SnapshotUsage; names: number; contentBytes: number };

/** Disk space of a tree, as counted by `du`. See `measureTree`. */
export async function diskUsage(directory: string, signal: AbortSignal): Promise<SnapshotUsage> {
  return (await measureTree(directory, signal)).usage;
}

/**
 * Measures a tree as `du` does: allocated blocks, hard links once, without other file systems. Entries that vanish meanwhile are
 * skipped, and so are those below 2048 levels. It yields to the event loop regularly, however deep the tree is and however many
 * entries a directory has: a container may create millions.
 */
export async function measureTree(directory: string, signal: AbortSignal): Promise<TreeMeasure> {
  const top = lstatSync(directory);
  const count = new Count(top);
  const pending: Location[] = [undefined];
  const budget = new EventLoopBudget();
  while (pending.length > 0) {
    const location = pending.pop();
    const depth = (location?.depth ?? 0) + 1;
    using opened = openDirectory(directory, location);
    if (opened === undefined) continue;
    for (let entry = opened.next(); entry !== undefined; entry = opened.next()) {
      if (budget.isSpent) await budget.renew(signal);
      if (!count.add(entry.stat) || !entry.stat.isDirectory() || depth > MAX_DEPTH) continue;
      pending.push({ parent: location, name: entry.name, depth });
    }
    if (budget.isSpent) await budget.renew(signal);
  }
  return count.measure;
}

class Count {
  readonly measure: TreeMeasure = { usage: { sizeBytes: 0, inodes: 0 }, names: 0, contentBytes: 0 };
  readonly #device: number;
  readonly #linked = new Set<number>();

  constructor(top: Stats) {
    this.#device = top.dev;
    this.add(top);
  }

  /** Returns false for entries on another file system, and for hard links to files that were counted before. */
  add(stat: Stats): boolean {
    if (stat.dev !== this.#device) return false;
    this.measure.names++;
    if (stat.nlink > 1 && !stat.isDirectory()) {
      if (this.#linked.has(stat.ino)) return false;
      this.#linked.add(stat.ino);
    }
    this.measure.usage.sizeBytes += stat.blocks * BLOCK_BYTES;
    this.measure.usage.inodes++;
    if (stat.isFile()) this.measure.contentBytes += stat.size;
    return true;
  }
}

type OpenDirectory = { next(): { name: Buffer; stat: Stats } | undefined } & Disposable;

/** Opens a directory to read its entries; `undefined` if it has vanished. */
function openDirectory(top: string, location: Location): OpenDirectory | undefined {
  const reached = undefinedIfVanished(() => reach(top, location));
  if (reached === undefined) return undefined;
  const { path, descriptor } = reached;
  const close = () => (descriptor === undefined ? undefined : closeSync(descriptor));
  const options = { encoding: 'buffer' as BufferEncoding, bufferSize: BATCH_ENTRIES };
  const entries = undefinedIfVanished(() => opendirSync(path as unknown as string, options));
  if (entries === undefined) {
    close();
    return undefined;
  }
  return {
    next: () => nextEntry(entries, path),
    [Symbol.dispose]: () => {
      entries.closeSync();
      close();
    },
  };
}

function nextEntry(entries: Dir, path: Buffer): { name: Buffer; stat: Stats } | undefined {
  for (let entry = entries.readSync(); entry !== null; entry = entries.readSync()) {
    const name = entry.name as unknown as Buffer;
    const stat = undefinedIfVanished(() => lstatSync(Buffer.concat([path, Buffer.from('/'), name])));
    if (stat !== undefined) return { name, stat };
  }
  return undefined;
}

/** A path of the directory. If the full path is too long, it is relative to the descriptor of a parent, which the caller must close. */
function reach(top: string, location: Location): { path: Buffer; descriptor: number | undefined } {
  let path: Buffer = Buffer.from(top);
  let descriptor: number | undefined;
  try {
    for (const name of namesOf(location)) {
      if (path.length + name.length > MAX_PATH_BYTES) {
        const next = openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
        if (descriptor !== undefined) closeSync(descriptor);
        descriptor = next;
        path = Buffer.from(`/proc/self/fd/${descriptor}`);
      }
      path = Buffer.concat([path, Buffer.from('/'), name]);
    }
    return { path, descriptor };
  } catch (error) {
    if (descriptor !== undefined) closeSync(descriptor);
    throw error;
  }
}

function namesOf(location: Location): Buffer[] {
  const names: Buffer[] = [];
  for (let at = location; at !== undefined; at = at.parent) names.push(at.name);
  return names.reverse();
}

function undefinedIfVanished<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (hasErrno(error, 'ENOENT') || hasErrno(error, 'ENOTDIR') || hasErrno(error, 'ELOOP')) return undefined;
    throw error;
  }
}
