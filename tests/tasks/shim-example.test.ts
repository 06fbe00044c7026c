/** Runs the example in the README of packages/shim. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { waitFor } from '@podwright/base';
import { makeScratch, processesWith } from './fixture.ts';

const packageDirectory = new URL('../../packages/shim/', import.meta.url).pathname;
const example = join(packageDirectory, 'examples/run-task.ts');

test('the README of the shim package contains the example’s source', () => {
  const [, block] = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(packageDirectory, 'README.md'), 'utf8')) ?? [];
  assert.equal(block, readFileSync(example, 'utf8'));
});

test('the example runs a process through a shim, receives its exit event, and leaves nothing behind', async () => {
  const scratch = makeScratch();
  const state = join(scratch.directory, 'shims');
  try {
    const args = [example, state, scratch.rootfs, 'sh', '-c', 'exit 3'];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 60_000 });
    assert.equal(status, 0, stderr);
    assert.match(stdout, /^process \d+ of the host has exited with code 3\n$/);
    for (const name of ['bundles', 'runc/example']) assert.deepEqual(readdirSync(join(state, name)), []);
    assert.ok(!existsSync('/run/containerd/runc/example'));
    const gone = () => processesWith(scratch.directory).length === 0 || undefined;
    await waitFor(gone, { intervalMs: 20, signal: AbortSignal.timeout(60_000) });
  } finally {
    await scratch.remove();
  }
});
