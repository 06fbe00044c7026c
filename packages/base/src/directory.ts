import { readdir, rmdir } from 'node:fs/promises';
import { noneWithoutDirectory } from './directory-sync.ts';
import { isErrno } from './errors.ts';

/** Names of what is in a directory; none in one that is not there. */
export async function namesIn(directory: string): Promise<string[]> {
  return await readdir(directory).catch(noneWithoutDirectory);
}

/** Removes a directory that has nothing in it; another stays as it is. */
export async function removeIfEmpty(directory: string): Promise<void> {
  await rmdir(directory).catch((error: unknown) => {
    if (!isErrno(error, 'ENOENT') && !isErrno(error, 'ENOTEMPTY')) throw error;
  });
}
