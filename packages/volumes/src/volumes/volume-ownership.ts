import { constants } from 'node:fs';
import { chmod, chown, type FileHandle, lchown, open, opendir } from 'node:fs/promises';
import {
  CONTAINER_DIRECTORY,
  GROUP_SEARCHABLE,
  GROUP_WRITABLE,
  isErrno,
  OPEN_DIRECTORY,
  PodwrightError,
  SET_GROUP_ID,
  STICKY,
} from '@podwright/base';
import { O_PATH } from './read-inside.ts';

/** Maximum directory depth when changing a volume's group. Each level holds a descriptor open. */
const MAX_VOLUME_DEPTH = 500;

/** Default root directory modes of in-memory file systems. */
export const TMPFS_ROOT = STICKY | OPEN_DIRECTORY;
export const HUGE_PAGES_ROOT = CONTAINER_DIRECTORY;

export type GroupChange = {
  /** The pod's fsGroup. */
  group: number;
  /** With `OnRootMismatch`, nothing is changed if the volume's root directory already has this group and mode. */
  policy?: 'OnRootMismatch' | 'Always';
};

const DIRECTORY_OF_GROUP = GROUP_WRITABLE | GROUP_SEARCHABLE | SET_GROUP_ID;

/** Returns the root directory mode of a volume writable by containers, given the pod's fsGroup. */
export function rootModeFor(mode: number, group: number | undefined): number {
  return group === undefined ? mode : mode | DIRECTORY_OF_GROUP;
}

/**
 * Changes the group of a directory tree, and gives it read and write access to everything in it. The root is changed last, so that an
 * interrupted change is repeated. Since other pods may be writing to the tree, symlinks are never followed, and files that disappear are
 * skipped.
 */
export async function changeGroup(root: string, { group, policy }: GroupChange): Promise<void> {
  await using place = await open(root, O_PATH | constants.O_NOFOLLOW | constants.O_DIRECTORY);
  const { gid, mode } = await place.stat();
  const isGiven = gid === group && (mode & DIRECTORY_OF_GROUP) === DIRECTORY_OF_GROUP;
  if (policy !== 'OnRootMismatch' || !isGiven) await give(place, group, 0);
}

async function give(place: FileHandle, group: number, depth: number): Promise<void> {
  if (depth > MAX_VOLUME_DEPTH)
    throw new PodwrightError('failed_precondition', `directories of the volume are deeper than ${MAX_VOLUME_DEPTH}`);
  const path = `/proc/self/fd/${place.fd}`;
  const stats = await place.stat();
  if (stats.isDirectory()) {
    // names may be invalid UTF-8, and there may be millions of entries
    for await (const { name } of await opendir(`${path}/.`, { encoding: 'buffer' as BufferEncoding }))
      await giveEntry(Buffer.concat([Buffer.from(`${path}/`), name as unknown as Buffer]), group, depth + 1);
  }
  await chown(path, stats.uid, group);
  // chown(2) clears the set-user-id and set-group-id bits of executables, so restore the mode
  await chmod(path, stats.mode | (stats.isDirectory() ? DIRECTORY_OF_GROUP : GROUP_WRITABLE));
}

async function giveEntry(path: Buffer, group: number, depth: number): Promise<void> {
  try {
    await using place = await open(path, O_PATH | constants.O_NOFOLLOW);
    const stats = await place.stat();
    if (stats.isSymbolicLink()) await lchown(path, stats.uid, group);
    else await give(place, group, depth);
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error;
  }
}
