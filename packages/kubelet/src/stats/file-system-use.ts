import type { StatsFs } from 'node:fs';
import { readFile, stat, statfs } from 'node:fs/promises';
import { runChecked } from '@podwright/host';
import { type FsStats, StatsTime } from './summary.ts';

/** Timeout for measuring a file system. */
const MEASURE_TIMEOUT_MS = 60_000;

/** The unit, in bytes, in which the kernel reports the size of a block device. */
const BLOCK_BYTES = 512;

/** Returns the size and free space of the file system that contains the path. */
export async function fileSystemOf(path: string): Promise<FsStats> {
  return fsStats(await statfs(path));
}

/**
 * Like `fileSystemOf`, but for a file system that may block on a remote server. Measured by a separate process, because a statfs(2) call
 * that hangs in this process would block a thread of libuv's pool. Settles once that process has exited, which may be never.
 */
export async function remoteFileSystemOf(path: string): Promise<FsStats> {
  const signal = AbortSignal.timeout(MEASURE_TIMEOUT_MS);
  const output = await runChecked('stat', ['-f', '-c', '%s %b %a %f %c %d', '--', path], { signal });
  const [bsize = 0, blocks = 0, bavail = 0, bfree = 0, files = 0, ffree = 0] = output.split(' ').map(Number);
  return fsStats({ bsize, blocks, bavail, bfree, files, ffree });
}

function fsStats({ bsize, blocks, bavail, bfree, files, ffree }: Omit<StatsFs, 'type' | 'frsize'>): FsStats {
  return {
    time: new StatsTime(Date.now()),
    availableBytes: bavail * bsize,
    capacityBytes: blocks * bsize,
    usedBytes: (blocks - bfree) * bsize,
    inodesFree: ffree,
    inodes: files,
    inodesUsed: files - ffree,
  };
}

/** Returns the size of a block device. */
export async function deviceUse(path: string): Promise<FsStats> {
  const { rdev } = await stat(path);
  // st_rdev contains the major and minor device numbers in the layout of makedev(3)
  const [major, minor] = [Math.floor(rdev / 256) % 4096, (rdev % 256) + Math.floor(rdev / 2 ** 20) * 256];
  const blocks = Number(await readFile(`/sys/dev/block/${major}:${minor}/size`, 'utf8'));
  const unknown = { availableBytes: 0, usedBytes: 0, inodes: 0, inodesFree: 0, inodesUsed: 0 };
  return { time: new StatsTime(Date.now()), ...unknown, capacityBytes: blocks * BLOCK_BYTES };
}
