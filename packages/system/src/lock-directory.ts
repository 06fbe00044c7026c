import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { makePrivateDirectory, PodwrightError, PRIVATE_FILE } from '@podwright/base';
import { loadSystem } from './system.ts';

/**
 * Creates a directory and locks it exclusively with a lock file in it. The result unlocks it; the kernel also drops the lock when
 * the process exits. Throws `already_exists` with the message `refusal` if another process holds the lock.
 */
export function lockDirectory(directory: string, refusal: string): () => void {
  makePrivateDirectory(directory);
  return lock(openSync(join(directory, 'lock'), 'a', PRIVATE_FILE), refusal);
}

/** As `lockDirectory`, but locks the directory itself and leaves no file in it. */
export function lockDirectoryItself(directory: string, refusal: string): () => void {
  makePrivateDirectory(directory);
  return lock(openSync(directory, 'r'), refusal);
}

function lock(descriptor: number, refusal: string): () => void {
  if (loadSystem().tryLock(descriptor)) return () => closeSync(descriptor);
  closeSync(descriptor);
  throw new PodwrightError('already_exists', refusal);
}
