import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { makePrivateDirectory, PodwrightError, PRIVATE_FILE } from '@podwright/base';
import { loadSystem } from './system.ts';

/**
 * Makes a directory and locks it for this process alone, until the result is called; the kernel drops the lock with the process.
 * Throws `already_exists` with the words of `refusal` where another has it.
 */
export function lockDirectory(directory: string, refusal: string): () => void {
  makePrivateDirectory(directory);
  const descriptor = openSync(join(directory, 'lock'), 'a', PRIVATE_FILE);
  if (loadSystem().tryLock(descriptor)) return () => closeSync(descriptor);
  closeSync(descriptor);
  throw new PodwrightError('already_exists', refusal);
}
