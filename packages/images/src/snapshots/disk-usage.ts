import { closeSync, constants, type Dir, lstatSync, opendirSync, openSync, type Stats } from 'node:fs';
import { EventLoopBudget } from '@podwright/base';
import { hasErrno } from '@podwright/system';
import type { SnapshotUsage } from './snapshotter.ts';

const BLOCK_BYTES = 512;
/** Entries that are read of a directory at once. */
const PIECE = 256;
/** A path up to this length, in bytes, the kernel takes as one; PATH_MAX is 4096. */
const MAX_PATH_BYTES = 3500;
/** Levels that are looked at: no path within PATH_MAX has more, and each costs all those above it. */
const MAX_DEPTH = 2048;
const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;

/** A directory by its names from the top on: paths of very deep ones would fill the memory. */
type Place = { parent: Place; name: Buffer; depth: number } | undefined;

/**
 * Space that a tree takes on the disk, as `du` counts it: allocated blocks, hard links once, other file systems left out. Entries
 * that vanish meanwhile are left out, too, and those below 2048 levels. Others have the thread now and then, however deep the tree is and however many entries
 * a directory has: a container may make millions.
 */
export async function diskUsage(directory: string, signal: AbortSignal): Promise<SnapshotUsage> {
  const top = lstatSync(directory);
  const count = new Count(top);
  const pending: Place[] = [undefined];
  const budget = new EventLoopBudget();
  while (pending.length > 0) {
    const place = pending.pop();
    const depth = (place?.depth ?? 0) + 1;
    using opened = openPlace(directory, place);
    if (opened === undefined) continue;
    for (let entry = opened.next(); entry !== undefined; entry = opened.next()) {
      if (budget.isSpent) await budget.renew(signal);
      if (!count.add(entry.stat) || !entry.stat.isDirectory() || depth > MAX_DEPTH) continue;
      pending.push({ parent: place, name: entry.name, depth });
    }
    if (budget.isSpent) await budget.renew(signal);
  }
  return count.usage;
}

class Count {
  readonly usage: SnapshotUsage = { sizeBytes: 0, inodes: 0 };
  readonly #device: number;
  readonly #linked = new Set<number>();

  constructor(top: Stats) {
    this.#device = top.dev;
    this.add(top);
  }

  /** False for what is not of this tree's file system, or was counted before. */
  add(stat: Stats): boolean {
    if (stat.dev !== this.#device) return false;
    if (stat.nlink > 1 && !stat.isDirectory()) {
      if (this.#linked.has(stat.ino)) return false;
      this.#linked.add(stat.ino);
    }
    this.usage.sizeBytes += stat.blocks * BLOCK_BYTES;
    this.usage.inodes++;
    return true;
  }
}

type OpenPlace = { next(): { name: Buffer; stat: Stats } | undefined } & Disposable;

/** Opens a directory to look at its entries; `undefined` if it has vanished. */
function openPlace(top: string, place: Place): OpenPlace | undefined {
  const reached = lookOrSkip(() => reach(top, place));
  if (reached === undefined) return undefined;
  const { path, descriptor } = reached;
  const close = () => (descriptor === undefined ? undefined : closeSync(descriptor));
  const options = { encoding: 'buffer' as BufferEncoding, bufferSize: PIECE };
  const entries = lookOrSkip(() => opendirSync(path as unknown as string, options));
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
    const stat = lookOrSkip(() => lstatSync(Buffer.concat([path, Buffer.from('/'), name])));
    if (stat !== undefined) return { name, stat };
  }
  return undefined;
}

/** A path to the directory; where it would be too long, by a descriptor of one on the way, which the caller closes. */
function reach(top: string, place: Place): { path: Buffer; descriptor: number | undefined } {
  let path: Buffer = Buffer.from(top);
  let descriptor: number | undefined;
  try {
    for (const name of namesOf(place)) {
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

function namesOf(place: Place): Buffer[] {
  const names: Buffer[] = [];
  for (let at = place; at !== undefined; at = at.parent) names.push(at.name);
  return names.reverse();
}

function lookOrSkip<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (hasErrno(error, 'ENOENT') || hasErrno(error, 'ENOTDIR') || hasErrno(error, 'ELOOP')) return undefined;
    throw error;
  }
}
