import { readdirSync } from 'node:fs';
import { isErrno } from '@podwright/base';

/**
 * Returns the names of a directory's entries, read synchronously; empty if the directory does not exist. In a separate module so that
 * commands do not have to load `node:fs/promises`.
 */
export function namesInSync(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    return noneWithoutDirectory(error);
  }
}

/** Returns an empty list if the error means that the directory does not exist; rethrows any other error. */
export function noneWithoutDirectory(error: unknown): string[] {
  if (isErrno(error, 'ENOENT')) return [];
  throw error;
}
