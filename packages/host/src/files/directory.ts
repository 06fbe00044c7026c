import { access, readdir, rmdir } from 'node:fs/promises';
import { isErrno } from '@podwright/base';
import { noneWithoutDirectory } from './directory-sync.ts';

/** Whether the path exists and this process is allowed to look it up. */
export async function pathExists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}

/** Returns the names of a directory's entries; empty if the directory does not exist. */
export async function namesIn(directory: string): Promise<string[]> {
  return await readdir(directory).catch(noneWithoutDirectory);
}

/** Removes a directory if it is empty. Not an error if it is not empty or does not exist. */
export async function removeIfEmpty(directory: string): Promise<void> {
  await rmdir(directory).catch((error: unknown) => {
    if (!isErrno(error, 'ENOENT') && !isErrno(error, 'ENOTEMPTY')) throw error;
  });
}
