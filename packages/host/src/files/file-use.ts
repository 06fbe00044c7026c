/** Disk usage of files and directory trees. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { PodwrightError } from '@podwright/base';
import { runProgram } from '../programs/program.ts';
import { type MeasureTreeOptions, measureTree } from './measure-tree.ts';
import type { TreeChanges } from './tree-count.ts';

/** Timeout for measuring a tree that may block on a remote server. */
const MEASURE_TIMEOUT_MS = 60_000;

const BLOCK_BYTES = 512;

/** Disk usage of files. Bytes are counted in 512-byte blocks, because sparse files use less than their length (stat(2)). */
export type FileUse = { bytes: number; inodes: number };

/** Returns the usage of the files directly in a directory; `undefined` if the directory does not exist. */
export async function filesIn(directory: string): Promise<FileUse | undefined> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => undefined);
  if (entries === undefined) return undefined;
  const files = entries.filter((entry) => entry.isFile());
  // a file deleted since the directory was listed counts as zero bytes and inodes
  const uses = await Promise.all(files.map(({ name }) => fileUse(join(directory, name))));
  return sumOfUses(uses);
}

export async function fileUse(path: string): Promise<FileUse> {
  const found = await stat(path).catch(() => undefined);
  return found === undefined ? { bytes: 0, inodes: 0 } : { bytes: found.blocks * BLOCK_BYTES, inodes: 1 };
}

export function sumOfUses(uses: FileUse[]): FileUse {
  const bytes = uses.reduce((sum, use) => sum + use.bytes, 0);
  return { bytes, inodes: uses.reduce((sum, use) => sum + use.inodes, 0) };
}

/**
 * Usage of a directory tree. `isPartial`: not all files in the tree were counted. `changes`: what changed while they were counted, so that
 * some might have been missed. `changedAtMs`: wall-clock time of the tree's last change; absent if unknown.
 */
export type TreeUse = FileUse & { isPartial: boolean; changes: TreeChanges; changedAtMs?: number };

/**
 * Measures a directory tree on a local disk. Counts each file once, skips other file systems mounted under the path, and stops at the
 * timeout.
 */
export async function treeUse(path: string, options: Omit<MeasureTreeOptions, 'onYield'>): Promise<TreeUse> {
  const { usage, isPartial, changes, changedAtMs } = await measureTree(path, options);
  return { bytes: usage.sizeBytes, inodes: usage.inodes, isPartial, changes, changedAtMs };
}

/**
 * Like `treeUse`, but for a directory tree on a remote server that might not respond. The measuring is left to separate programs, so that
 * only they hang and not this process. Rejects if the tree cannot be measured, for example because a directory is moved during the walk.
 */
export async function remoteTreeUse(path: string, signal?: AbortSignal): Promise<TreeUse> {
  const [bytes, inodes] = await Promise.all([
    treeTotal(path, '--block-size=1', signal),
    treeTotal(path, '--inodes', signal),
  ]);
  return { bytes, inodes, isPartial: false, changes: 'none' };
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
