/** Frees the disk space of large files in a directory tree that is being removed. */
import { readFileSync, readlinkSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { ignoreFailure } from '@podwright/base';
import { runProgram } from '../programs/program.ts';
import { unescapeMountPath } from './mount-path.ts';

/** Size of the files that are not large, in units of 512 bytes: up to 64 KiB. */
const SMALL_BLOCKS = 128;

/**
 * Starts to remove all names of the large files below an open directory, which find(1) does much faster than this process. The caller
 * removes the rest, and aborts the signal when it has. Does nothing if a file system is mounted in the directory tree, because find
 * recognizes only mounts of other devices.
 */
export function freeLargeFiles({ fd }: FileHandle, signal: AbortSignal): void {
  const top = `/proc/${process.pid}/fd/${fd}`;
  if (mayHaveMountBelow(top)) return;
  const large = ['-type', 'f', '-size', `+${SMALL_BLOCKS}`];
  const find = runProgram('find', ['.', '-xdev', ...large, '-delete'], { cwd: top, signal, stderr: false });
  ignoreFailure(find, 'the removal of the tree fails with an error that names the file');
}

/** Whether a file system is mounted below the directory to which the link refers, or that cannot be determined. */
function mayHaveMountBelow(link: string): boolean {
  try {
    const directory = readlinkSync(link);
    const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
    return mounts.some((line) => unescapeMountPath(line.split(' ')[4] ?? '').startsWith(`${directory}/`));
  } catch {
    return true;
  }
}
