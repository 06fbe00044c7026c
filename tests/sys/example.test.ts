/** Runs the example in packages/system. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';

const example = new URL('../../packages/system/examples/mount-tmpfs.ts', import.meta.url).pathname;

test('the example mounts a file system, lists it, and unmounts it', () => {
  const stdout = execFileSync(process.execPath, [example], { encoding: 'utf8', timeout: 30_000 });
  assert.match(stdout, /^\[ 'tmpfs rw,nosuid[^']*' \]\n$/);
});
