import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { makePrivateDirectory, PodwrightError, PRIVATE_FILE } from '@podwright/base';
import { loadSystem } from './system.ts';

/**
 * Makes a directory and locks it for this process alone, by a file in it, until the result is called; the kernel drops the lock with the
 * process. Throws `already_exists` with the message `refusal` where another has it.
 */
export function lockDirectory(directory: string, refusal: string): () => void {
  makePrivateDirectory(directory);
  return lock(openSync(join(directory, 'lock'), 'a', PRIVATE_FILE), refusal);
}

/** The same by the directory itself, in which nothing stays. */
export function lockDirectoryItself(directory: string, refusal: string): () => void {
  makePrivateDirectory(directory);
  return lock(openSync(directory, 'r'), refusal);
}

function lock(descriptor: number, refusal: string): () => void {
  if (loadSystem().tryLock(descriptor)) return () => closeSync(descriptor);
  closeSync(descriptor);
  throw new PodwrightError('already_exists', refusal);
}
