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

/** A file's content, and what tells this state of the file from the next. */
export type ManifestFile = {
  /** Equal as long as the file is. */
  stamp: string;
  modifiedAtMs: number;
  /** The file was moved to its place after it was last written, so that nobody is writing to it any more. */
  movedHere: boolean;
  manifest: DecodedManifest;
};

/**
 * Reads and decodes a manifest file: `undefined` if there is no regular file of that name, `unchanged` if its stamp is
 * `knownStamp`. What is wrong with the content is in the manifest's errors.
 */
export async function readManifestFile(
  path: string,
  knownStamp?: string,
): Promise<ManifestFile | 'unchanged' | undefined> {
  // most looks find the file as it was: it need not be opened for that
  const seen = knownStamp === undefined ? undefined : await stat(path, { bigint: true }).catch(() => undefined);
  if (seen !== undefined && stampOf(seen) === knownStamp) return 'unchanged';
  const file = await openExisting(path);
  if (file === undefined) return undefined;
  try {
    const stats = await file.stat({ bigint: true });
    if (!stats.isFile()) return undefined;
    const stamp = stampOf(stats);
    if (stamp === knownStamp) return 'unchanged';
    // one byte more than allowed makes the decoder say that it is too large
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

async function openExisting(path: string): Promise<FileHandle | undefined> {
  try {
    // O_NONBLOCK: a FIFO must not make us wait for its writer
    return await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (isErrno(error, 'ENOENT') || isErrno(error, 'ENXIO')) return undefined;
    throw error;
  }
}

/** Decodes what came from a file or a server; bytes that are no text are refused rather than replaced. */
export function decodeBytes(bytes: Uint8Array, file: string): DecodedManifest {
  const text = textOfManifest(bytes);
  if (text !== undefined) return decodeManifest(text, { file });
  return { ...decodeManifests([]), errors: [new ManifestError({ file, line: 1, column: 1 }, NO_TEXT)] };
}
