import { readdir, rmdir } from 'node:fs/promises';
import { isErrno } from '@podwright/base';
import { noneWithoutDirectory } from './directory-sync.ts';

/** Names of a directory's entries; empty if the directory does not exist. */
export async function namesIn(directory: string): Promise<string[]> {
  return await readdir(directory).catch(noneWithoutDirectory);
}

/** Removes a directory if it is empty. No error if it is not empty or does not exist. */
export async function removeIfEmpty(directory: string): Promise<void> {
  await rmdir(directory).catch((error: unknown) => {
    if (!isErrno(error, 'ENOENT') && !isErrno(error, 'ENOTEMPTY')) throw error;
  });
}
