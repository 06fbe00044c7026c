import { type Stats, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { isErrno } from '@podwright/base';

/** Where manifests are: the files of a directory, or one file alone. */
export type ManifestPlace = {
  directory: string;
  /** The directory's device and inode: another one may take its place. */
  identity: string;
  /** The name of the one file, which need not be there. */
  only: string | undefined;
};

/**
 * What a path of manifests stands for. One that is not there is a file if it is named like one, or `wasFile`; else this rejects with
 * ENOENT, as it does where the file's directory is not there.
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

/** Whether a path of manifests stands for one file, so that nothing can be put into it. */
export function isOneManifest(path: string): boolean {
  const there: Stats | undefined = statSync(path, { throwIfNoEntry: false });
  return there === undefined ? hasFileName(path) : there.isFile();
}

const hasFileName = (path: string) => /\.(ya?ml|json)$/i.test(path);
