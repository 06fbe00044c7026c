import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { lockDirectory } from './lock-directory.ts';

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
