/** Frees the disk space of large files in a directory tree that is being removed. */
import { readFileSync, readlinkSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { ignoreFailure } from '@podwright/base';
import { runProgram } from '../programs/program.ts';
import { unescapeMountPath } from './mount-path.ts';

/** Maximum size of files that are not considered large, in 512-byte blocks: 64 KiB. */
const SMALL_BLOCKS = 128;

/**
 * Starts removing the large files under an open directory, including all their hard links, with find(1), which does so much faster than
 * this process. The caller removes all other entries, and aborts the signal when it is done. Does nothing if a file system is mounted in
 * the directory tree, because find recognizes only mounts of other devices.
 */
export function freeLargeFiles({ fd }: FileHandle, signal: AbortSignal): void {
  const top = `/proc/${process.pid}/fd/${fd}`;
  if (mayHaveMountBelow(top)) return;
  const large = ['-type', 'f', '-size', `+${SMALL_BLOCKS}`];
  const find = runProgram('find', ['.', '-xdev', ...large, '-delete'], { cwd: top, signal, stderr: false });
  ignoreFailure(find, 'the removal of the tree fails with an error that names the file');
}

/** Whether a file system is mounted under the directory that the link points to. Also true if this cannot be determined. */
function mayHaveMountBelow(link: string): boolean {
  try {
    const directory = readlinkSync(link);
    const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
    return mounts.some((line) => unescapeMountPath(line.split(' ')[4] ?? '').startsWith(`${directory}/`));
  } catch {
    return true;
  }
}
