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

/** A file's content, and a stamp that identifies this version of the file. */
export type ManifestFile = {
  /** Device, inode, size and times; unchanged as long as the file does not change. */
  stamp: string;
  modifiedAtMs: number;
  /** Whether the file was renamed after its last write, which means that the writer has finished. */
  movedHere: boolean;
  manifest: DecodedManifest;
};

/**
 * Reads and decodes a manifest file. Returns `undefined` if there is no regular file with that name, and `unchanged` if its stamp equals
 * `knownStamp`. Errors in the content are in `manifest.errors`.
 */
export async function readManifestFile(
  path: string,
  knownStamp?: string,
): Promise<ManifestFile | 'unchanged' | undefined> {
  // usually the file is unchanged, which stat shows without opening it
  const seen = knownStamp === undefined ? undefined : await stat(path, { bigint: true }).catch(() => undefined);
  if (seen !== undefined && stampOf(seen) === knownStamp) return 'unchanged';
  const file = await openExisting(path);
  if (file === undefined) return undefined;
  try {
    const stats = await file.stat({ bigint: true });
    if (!stats.isFile()) return undefined;
    const stamp = stampOf(stats);
    if (stamp === knownStamp) return 'unchanged';
    // read one byte more than is allowed, so that the decoder notices that the file is too large
    const buffer = Buffer.alloc(Math.min(Number(stats.size), MAX_MANIFEST_BYTES + 1));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
    return {
      stamp,
      modifiedAtMs: Number(stats.mtimeMs),
      // a rename changes only the ctime, a write changes both times; chmod, chown and link also look like a rename
      movedHere: stats.ctimeNs > stats.mtimeNs,
      manifest: decodeBytes(buffer.subarray(0, bytesRead), path),
    };
  } finally {
    await file.close();
  }
}

const stampOf = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats) => [dev, ino, size, mtimeNs, ctimeNs].join(':');

/** Returns the device and inode from a stamp. A file that is replaced using `rename` gets a different inode. */
export const inodeOf = (stamp: string): string => stamp.split(':', 2).join(':');

async function openExisting(path: string): Promise<FileHandle | undefined> {
  try {
    // O_NONBLOCK, because opening a FIFO must not block until it has a writer
    return await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (isErrno(error, 'ENOENT') || isErrno(error, 'ENXIO')) return undefined;
    throw error;
  }
}

/** Decodes bytes from a file or a server. Invalid UTF-8 is rejected rather than replaced. */
export function decodeBytes(bytes: Uint8Array, file: string): DecodedManifest {
  const text = textOfManifest(bytes);
  if (text !== undefined) return decodeManifest(text, { file });
  return { ...decodeManifests([]), errors: [new ManifestError({ file, line: 1, column: 1 }, NO_TEXT)] };
}
