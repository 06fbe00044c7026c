import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { oneFileArchive } from './one-file-archive.ts';

test('tar extracts the file unchanged and executable', () => {
  for (const contents of [Buffer.alloc(0), Buffer.alloc(512, 'x'), Buffer.alloc(100_001, 'words ')]) {
    const input = oneFileArchive('pause', contents);
    const { stdout, stderr } = spawnSync('tar', ['-xOf', '-'], { input });
    assert.deepEqual([stdout.equals(contents), stderr.toString()], [true, '']);
    assert.match(
      spawnSync('tar', ['-tvf', '-'], { input }).stdout.toString(),
      /^-rwxr-xr-x 0\/0 +\d+ 1970-01-01 \S+ pause\n$/,
    );
  }
});
