import { readdirSync } from 'node:fs';
import { isErrno } from './errors.ts';

/** Names of what is in a directory, at once; none in one that is not there. Here by itself: commands need no `node:fs/promises`. */
export function namesInSync(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    return noneWithoutDirectory(error);
  }
}

/** No names for the error of a directory that is not there; throws any other. */
export function noneWithoutDirectory(error: unknown): string[] {
  if (isErrno(error, 'ENOENT')) return [];
  throw error;
}
