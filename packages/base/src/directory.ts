import { readdir } from 'node:fs/promises';
import { isErrno } from './errors.ts';

/** Names of what is in a directory; none in one that is not there. */
export async function namesIn(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return [];
    throw error;
  }
}
