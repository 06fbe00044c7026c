import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { lockDirectory, lockDirectoryItself } from './lock-directory.ts';
import { System } from './system.ts';

test('a directory is created, and only one caller at a time locks it', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'pwd-lock-'));
  try {
    const directory = join(scratch, 'root');
    const unlock = lockDirectory(directory, 'it is open');
    assert.throws(() => lockDirectory(directory, 'it is open'), { code: 'already_exists', message: 'it is open' });
    unlock();
    lockDirectory(directory, 'it is open')();
  } finally {
    rmSync(scratch, { recursive: true });
  }
});

test('a lock on a directory that was removed and re-created is not valid', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'pwd-lock-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const tryLock = t.mock.method(System.prototype, 'tryLock', () => {
    rmSync(directory, { recursive: true }); // as the process with the lock does before it unlocks
    mkdirSync(directory);
    return true;
  });
  assert.throws(() => lockDirectoryItself(directory, 'it is open'), { code: 'already_exists' });
  tryLock.mock.restore();
  lockDirectoryItself(directory, 'it is open')();
});
