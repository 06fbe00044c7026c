import { closeSync, fstatSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { makePrivateDirectory, PodwrightError, PRIVATE_FILE } from '@podwright/base';
import { loadSystem } from './system.ts';

/**
 * Creates a directory and locks it exclusively with a lock file in it. Returns a function that releases the lock; the kernel also releases
 * it when the process exits. Throws `already_exists` with the message `refusal` if another process holds the lock.
 */
export function lockDirectory(directory: string, refusal: string): () => void {
  makePrivateDirectory(directory);
  return lock(openSync(join(directory, 'lock'), 'a', PRIVATE_FILE), refusal);
}

/** Like `lockDirectory`, but locks the directory itself instead of creating a file in it. The lock holder may remove the directory. */
export function lockDirectoryItself(directory: string, refusal: string): () => void {
  makePrivateDirectory(directory);
  const descriptor = openSync(directory, 'r');
  const unlock = lock(descriptor, refusal);
  if (isAt(descriptor, directory)) return unlock;
  // the previous lock holder removed the directory between open and lock, so this lock protects nothing; a third process might have
  // recreated the directory
  unlock();
  throw new PodwrightError('already_exists', refusal);
}

function isAt(descriptor: number, path: string): boolean {
  const [locked, found] = [fstatSync(descriptor), statSync(path, { throwIfNoEntry: false })];
  return locked.ino === found?.ino && locked.dev === found.dev;
}

function lock(descriptor: number, refusal: string): () => void {
  if (loadSystem().tryLock(descriptor)) return () => closeSync(descriptor);
  closeSync(descriptor);
  throw new PodwrightError('already_exists', refusal);
}
