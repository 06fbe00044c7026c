/** Runs the example in packages/images against a loopback registry. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { FaultyRegistry } from './faulty-registry.ts';
import { scratch } from './image-room.ts';
import { addImage, makeLayer } from './made-image.ts';

const example = new URL('../../packages/images/examples/pull-and-mount.ts', import.meta.url).pathname;

test('the example pulls an image, mounts its root file system, and leaves nothing behind', async (t) => {
  await using registry = await FaultyRegistry.start();
  const { id } = addImage(registry, { tag: '1', layers: [makeLayer({ 'etc/name': 'x' }), makeLayer({ hello: 'y' })] });
  const root = join(await scratch(t), 'new');
  const name = `${registry.host}/room/app:1`;
  const { stdout } = await promisify(execFile)(process.execPath, [example, root, name], { timeout: 60_000 });
  const [pulled, listed, size, remaining, ...more] = stdout.trimEnd().split('\n');
  assert.equal(pulled, `${name} runs sh`);
  assert.equal(listed, 'root file system: etc, hello');
  assert.match(size ?? '', new RegExp(`^${id}: \\d+ bytes, compressed$`));
  assert.equal(remaining, 'remaining images: 0, remaining snapshots: 0');
  assert.deepEqual(more, []);
  assert.deepEqual(readdirSync(join(root, 'content/blobs/sha256')), []);
});
