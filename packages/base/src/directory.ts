import { readdir } from 'node:fs/promises';
import { noneWithoutDirectory } from './directory-sync.ts';

/** Names of what is in a directory; none in one that is not there. */
export async function namesIn(directory: string): Promise<string[]> {
  return await readdir(directory).catch(noneWithoutDirectory);
}
