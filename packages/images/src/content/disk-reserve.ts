import type { StatsFs } from 'node:fs';
import { MAX_RESERVE_BYTES, MAX_UNCHECKED_BYTES, RESERVE_SHARE } from '../limits.ts';

/** Advice appended to error messages about a full disk. */
export const MAKE_ROOM = 'remove unused images with `podwright rmi`';

type Space = Pick<StatsFs, 'bavail' | 'blocks' | 'bsize'>;

function reserveBytes({ blocks, bsize }: Pick<Space, 'blocks' | 'bsize'>): number {
  return Math.min(MAX_RESERVE_BYTES, blocks * bsize * RESERVE_SHARE);
}

/** Returns the number of bytes of a file system that images may still use; negative if less than the reserve is free. */
export function bytesForImages(space: Space): number {
  return space.bavail * space.bsize - reserveBytes(space);
}

/** Returns how many bytes may be written before the next check of free space, so that most of the reserve is preserved. */
export function bytesUntilNextCheck(space: Space): number {
  return Math.min(MAX_UNCHECKED_BYTES, reserveBytes(space) / 4);
}

/** Returns the number of files that images may still create. File systems without a fixed number of inodes report 0 of 0. */
export function filesForImages({ ffree, files }: Pick<StatsFs, 'ffree' | 'files'>): number {
  return files === 0 ? Number.POSITIVE_INFINITY : ffree - files * RESERVE_SHARE;
}
