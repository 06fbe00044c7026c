import { readdirSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { isErrno } from './errors.ts';

/** Names of what is in a directory; none in one that is not there. */
export async function namesIn(directory: string): Promise<string[]> {
  return await readdir(directory).catch(noneWithoutDirectory);
}

/** The same at once. */
export function namesInSync(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    return noneWithoutDirectory(error);
  }
}

function noneWithoutDirectory(error: unknown): string[] {
  if (isErrno(error, 'ENOENT')) return [];
  throw error;
}
