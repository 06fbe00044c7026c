import type { StatsFs } from 'node:fs';

/** What images leave of a disk's space and files, so that neither a bomb nor a big image stops all else on the machine. */
const RESERVE_SHARE = 0.05;
/** More is not kept of a big disk: it would be wasted, and journald keeps some gigabytes besides. */
const MAX_RESERVE_BYTES = 2 * 2 ** 30;
const MAX_UNSEEN_BYTES = 64 * 2 ** 20;

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
  return Math.min(MAX_UNSEEN_BYTES, reserveBytes(space) / 4);
}

/** Files that images may still make; file systems without a bound on files say 0 of 0. */
export function filesForImages({ ffree, files }: Pick<StatsFs, 'ffree' | 'files'>): number {
  return files === 0 ? Number.POSITIVE_INFINITY : ffree - files * RESERVE_SHARE;
}
