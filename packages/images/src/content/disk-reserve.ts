import type { StatsFs } from 'node:fs';
import { MAX_RESERVE_BYTES, MAX_UNCHECKED_BYTES, RESERVE_SHARE } from '../limits.ts';

/** What a person can do about a full disk, for the end of an error message. */
export const MAKE_ROOM = 'remove images that are not used with `podwright rmi`';

type Space = Pick<StatsFs, 'bavail' | 'blocks' | 'bsize'>;

/** Bytes of a file system that images leave free. */
function reserveBytes({ blocks, bsize }: Pick<Space, 'blocks' | 'bsize'>): number {
  return Math.min(MAX_RESERVE_BYTES, blocks * bsize * RESERVE_SHARE);
}

/** Bytes that images may still take of a file system; negative if its reserve is touched. */
export function bytesForImages(space: Space): number {
  return space.bavail * space.bsize - reserveBytes(space);
}

/** After how many bytes the space is to be looked at again, so that the reserve stays. */
export function bytesUntilNextLook(space: Space): number {
  return Math.min(MAX_UNCHECKED_BYTES, reserveBytes(space) / 4);
}

/** Files that images may still make; file systems without a bound on files say 0 of 0. */
export function filesForImages({ ffree, files }: Pick<StatsFs, 'ffree' | 'files'>): number {
  return files === 0 ? Number.POSITIVE_INFINITY : ffree - files * RESERVE_SHARE;
}
