import { lstatSync, readdirSync } from 'node:fs';
import { ThreadSlice } from '@podwright/base';
import { hasErrno } from '../sys/errno.ts';
import type { SnapshotUsage } from './snapshotter.ts';

const BLOCK_BYTES = 512;

/**
 * Space that a tree takes on the disk, as `du` counts it: allocated blocks, hard links once, other file systems left out.
 * Entries that vanish meanwhile, and paths too long for the kernel, are left out.
 */
export async function diskUsage(directory: string, signal: AbortSignal): Promise<SnapshotUsage> {
  const usage: SnapshotUsage = { sizeBytes: 0, inodes: 0 };
  const { dev } = lstatSync(directory);
  const linked = new Set<number>();
  const pending: (string | Buffer)[] = [directory];
  const slice = new ThreadSlice();
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    if (slice.isOver) await slice.next(signal);
    const stat = lookOrSkip(() => lstatSync(path));
    if (stat === undefined || stat.dev !== dev) continue;
    if (stat.nlink > 1 && !stat.isDirectory()) {
      if (linked.has(stat.ino)) continue;
      linked.add(stat.ino);
    }
    usage.sizeBytes += stat.blocks * BLOCK_BYTES;
    usage.inodes++;
    if (stat.isDirectory()) pending.push(...children(path));
  }
  return usage;
}

function children(path: string | Buffer): Buffer[] {
  const prefix = Buffer.concat([Buffer.from(path), Buffer.from('/')]);
  const names = lookOrSkip(() => readdirSync(path, { encoding: 'buffer' })) ?? [];
  return names.map((name) => Buffer.concat([prefix, name]));
}

function lookOrSkip<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (hasErrno(error, 'ENOENT') || hasErrno(error, 'ENOTDIR') || hasErrno(error, 'ENAMETOOLONG')) return undefined;
    throw error;
  }
}
