import { type Stats, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { isErrno } from '@podwright/base';

/** The location of the manifests: all files in a directory, or a single file. */
export type ManifestPlace = {
  directory: string;
  /** The directory's device and inode, which reveal whether it was replaced by another directory. */
  identity: string;
  /** Name of the single file, which need not exist; `undefined` if all files are read. */
  only: string | undefined;
};

/**
 * Determines whether a manifest path is a directory or a single file. A missing path counts as a file if its name looks like one or
 * `wasFile` is set; otherwise this rejects with ENOENT. Also rejects with ENOENT if the file's parent directory is missing.
 */
export async function manifestPlace(path: string, wasFile = false): Promise<ManifestPlace> {
  const there = await stat(path).catch((error: unknown) => {
    if (isErrno(error, 'ENOENT') && (wasFile || hasFileName(path))) return undefined;
    throw error;
  });
  if (there?.isDirectory()) return { directory: path, identity: identityOf(there), only: undefined };
  if (there !== undefined && !there.isFile()) throw new Error('it is neither a directory nor a file');
  const directory = dirname(path);
  return { directory, identity: identityOf(await stat(directory)), only: basename(path) };
}

const identityOf = ({ dev, ino }: Stats) => `${dev}:${ino}`;

/** Whether a manifest path is a single file, to which no manifests can be added. */
export function isOneManifest(path: string): boolean {
  const there: Stats | undefined = statSync(path, { throwIfNoEntry: false });
  return there === undefined ? hasFileName(path) : there.isFile();
}

const hasFileName = (path: string) => /\.(ya?ml|json)$/i.test(path);
