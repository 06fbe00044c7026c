import type { StatsFs } from 'node:fs';
import { readdir, readFile, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { PodwrightError } from '@podwright/base';
import { measureTree, runChecked, runProgram } from '@podwright/host';
import { type FsStats, StatsTime } from './summary.ts';

/** Timeout for measuring one volume. */
const MEASURE_TIMEOUT_MS = 60_000;

/** Disk usage of files. Bytes are counted in 512-byte blocks, because sparse files use less than their length (stat(2)). */
export type FileUse = { bytes: number; inodes: number };

const BLOCK_BYTES = 512;

/** Returns the size and free space of the file system that contains the path. */
export async function fileSystemOf(path: string): Promise<FsStats> {
  return fsStats(await statfs(path));
}

/**
 * Like `fileSystemOf`, but for a file system that may block on a remote server. A separate program does the measuring, because a statfs(2)
 * call that hangs in this process would block a thread of libuv's pool. Settles once the program has exited, which may be never.
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
  // the layout of st_rdev (makedev(3))
  const [major, minor] = [Math.floor(rdev / 256) % 4096, (rdev % 256) + Math.floor(rdev / 2 ** 20) * 256];
  const blocks = Number(await readFile(`/sys/dev/block/${major}:${minor}/size`, 'utf8'));
  const unknown = { availableBytes: 0, usedBytes: 0, inodes: 0, inodesFree: 0, inodesUsed: 0 };
  return { time: new StatsTime(Date.now()), ...unknown, capacityBytes: blocks * BLOCK_BYTES };
}

/** Returns the usage of the files directly in a directory; `undefined` if the directory does not exist. */
export async function filesIn(directory: string): Promise<FileUse | undefined> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => undefined);
  if (entries === undefined) return undefined;
  const files = entries.filter((entry) => entry.isFile());
  // a file that has been deleted meanwhile counts as nothing
  const uses = await Promise.all(files.map(({ name }) => fileUse(join(directory, name))));
  return sumOf(uses);
}

export async function fileUse(path: string): Promise<FileUse> {
  const found = await stat(path).catch(() => undefined);
  return found === undefined ? { bytes: 0, inodes: 0 } : { bytes: found.blocks * BLOCK_BYTES, inodes: 1 };
}

export function sumOf(uses: FileUse[]): FileUse {
  const bytes = uses.reduce((sum, use) => sum + use.bytes, 0);
  return { bytes, inodes: uses.reduce((sum, use) => sum + use.inodes, 0) };
}

/** Usage of a directory tree. `isPartial`: not all files in the tree were counted. */
export type TreeUse = FileUse & { isPartial: boolean };

/**
 * Measures a directory tree on a local disk. Counts each file once, skips other file systems mounted below the path, and stops at the
 * timeout.
 */
export async function treeUse(path: string, options: { signal: AbortSignal; timeoutMs?: number }): Promise<TreeUse> {
  const { usage, isPartial } = await measureTree(path, options);
  return { bytes: usage.sizeBytes, inodes: usage.inodes, isPartial };
}

/**
 * Like `treeUse`, but for a directory tree that may block on a remote server. Separate programs do the measuring, so that they hang instead
 * of this process. Rejects if the tree cannot be measured, for example because a directory is moved in the meantime.
 */
export async function remoteTreeUse(path: string, signal?: AbortSignal): Promise<TreeUse> {
  const [bytes, inodes] = await Promise.all([
    treeTotal(path, '--block-size=1', signal),
    treeTotal(path, '--inodes', signal),
  ]);
  return { bytes, inodes, isPartial: false };
}

/** Runs `du`. It reports errors for files that vanish but still counts the others, so its exit code is ignored if it prints a total. */
async function treeTotal(path: string, unit: string, stop?: AbortSignal): Promise<number> {
  const signal = AbortSignal.any([AbortSignal.timeout(MEASURE_TIMEOUT_MS), ...(stop ? [stop] : [])]);
  const options = ['--summarize', unit, '--one-file-system'];
  const { stdout, exitCode } = await runProgram('du', [...options, '--', path], { signal, stderr: false });
  const total = /^(\d+)\t/.exec(stdout)?.[1];
  if (total === undefined) throw new PodwrightError('internal', `du ${path}: exit code ${exitCode}, and no total`);
  return Number(total);
}
