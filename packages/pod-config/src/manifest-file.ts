import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { isErrno } from '@podwright/base';
import {
  type DecodedManifest,
  decodeManifest,
  decodeManifests,
  MAX_MANIFEST_BYTES,
  ManifestError,
  NO_TEXT,
  textOfManifest,
} from '@podwright/kube-api';

/** A file's content, and a stamp of this version of the file. */
export type ManifestFile = {
  /** Device, inode, size and times; unchanged as long as the file is. */
  stamp: string;
  modifiedAtMs: number;
  /** The file was renamed after its last write, so its writer has finished. */
  movedHere: boolean;
  manifest: DecodedManifest;
};

/**
 * Reads and decodes a manifest file. Returns `undefined` if there is no regular file of that name, `unchanged` if its stamp is
 * `knownStamp`. Errors in the content are in `manifest.errors`.
 */
export async function readManifestFile(
  path: string,
  knownStamp?: string,
): Promise<ManifestFile | 'unchanged' | undefined> {
  // usually the file is unchanged, and a stat shows that without opening it
  const seen = knownStamp === undefined ? undefined : await stat(path, { bigint: true }).catch(() => undefined);
  if (seen !== undefined && stampOf(seen) === knownStamp) return 'unchanged';
  const file = await openExisting(path);
  if (file === undefined) return undefined;
  try {
    const stats = await file.stat({ bigint: true });
    if (!stats.isFile()) return undefined;
    const stamp = stampOf(stats);
    if (stamp === knownStamp) return 'unchanged';
    // one byte more than allowed, so that the decoder reports that the file is too large
    const buffer = Buffer.alloc(Math.min(Number(stats.size), MAX_MANIFEST_BYTES + 1));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
    return {
      stamp,
      modifiedAtMs: Number(stats.mtimeMs),
      // moving a file changes its ctime only, writing changes both times
      movedHere: stats.ctimeNs > stats.mtimeNs,
      manifest: decodeBytes(buffer.subarray(0, bytesRead), path),
    };
  } finally {
    await file.close();
  }
}

const stampOf = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats) => [dev, ino, size, mtimeNs, ctimeNs].join(':');

/** Device and inode of a stamp; a file that is replaced by `rename` gets another inode. */
export const inodeOf = (stamp: string): string => stamp.split(':', 2).join(':');

async function openExisting(path: string): Promise<FileHandle | undefined> {
  try {
    // O_NONBLOCK: opening a FIFO must not wait for its writer
    return await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (isErrno(error, 'ENOENT') || isErrno(error, 'ENXIO')) return undefined;
    throw error;
  }
}

/** Decodes bytes of a file or server; bytes that are not UTF-8 are refused rather than replaced. */
export function decodeBytes(bytes: Uint8Array, file: string): DecodedManifest {
  const text = textOfManifest(bytes);
  if (text !== undefined) return decodeManifest(text, { file });
  return { ...decodeManifests([]), errors: [new ManifestError({ file, line: 1, column: 1 }, NO_TEXT)] };
}
