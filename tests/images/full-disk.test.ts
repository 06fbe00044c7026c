import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { FaultyRegistry } from './faulty-registry.ts';
import { type ImageRoom, openImageRoom, scratch } from './image-room.ts';
import { addImage, type MadeLayer, makeLayer } from './made-image.ts';
import { rejects } from './rejects.ts';

const { signal } = new AbortController();

type Started = { room: ImageRoom; registry: FaultyRegistry; name: string; directory: string };

/** Opens an image room on an 8 MB file system, and serves an image with a single layer. */
async function onSmallDisk(t: TestContext, layer: MadeLayer, use: (started: Started) => Promise<void>): Promise<void> {
  const directory = await scratch(t);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8M', 'tmpfs', directory]);
  try {
    await using registry = await FaultyRegistry.start();
    await using room = await openImageRoom(directory, { kind: 'native' });
    addImage(registry, { tag: '1', layers: [layer] });
    await use({ room, registry, name: `${registry.host}/room/app:1`, directory });
  } finally {
    execFileSync('umount', [directory]);
  }
}

async function checkNothingLeft({ room, directory }: Started): Promise<void> {
  assert.deepEqual(await room.snapshotter.list(), []);
  assert.deepEqual(readdirSync(join(directory, 'content/ingest')), []);
  assert.deepEqual(readdirSync(join(directory, 'content/blobs/sha256')), []);
}

/** Fills the disk up to the last free megabyte. */
function fill(directory: string): void {
  const { bavail, bsize } = statfsSync(directory);
  writeFileSync(join(directory, 'filler'), Buffer.alloc(Math.max(0, bavail * bsize - (1 << 20))));
}

test('layers that cannot fit are refused before they are fetched', async (t) => {
  const layer = makeLayer({ big: randomBytes(10_000_000).toString('latin1') });
  await onSmallDisk(t, layer, async (started) => {
    const message = /its layers take \d+ bytes, .* has \d+ free for images; remove unused images with `podwright rmi`/;
    await rejects(started.room.images.pull(started.name, { signal }), 'resource_exhausted', message);
    const { digest } = started.registry.addBlob(layer.data);
    assert.ok(started.registry.requestsFor('blobs').every(({ path }) => !path.endsWith(digest)));
    await checkNothingLeft(started);
  });
});

test('if the disk fills up during a layer download, the pull fails and frees its space', async (t) => {
  const layer = makeLayer({ big: randomBytes(3_000_000).toString('latin1') });
  await onSmallDisk(t, layer, async (started) => {
    const { digest } = started.registry.addBlob(layer.data);
    started.registry.faults.push(({ path }) => {
      if (path.endsWith(digest)) fill(started.directory);
      return false;
    });
    await rejects(started.room.images.pull(started.name, { signal }), 'resource_exhausted', /the disk is full/);
    await checkNothingLeft(started);
  });
});

test('if the disk fills up while a layer is unpacked, the pull fails and frees its space', async (t) => {
  await onSmallDisk(t, makeLayer({ big: 'x'.repeat(20_000_000) }), async (started) => {
    const pull = started.room.images.pull(started.name, { signal });
    await rejects(pull, 'resource_exhausted', /unpack layer sha256:/);
    await checkNothingLeft(started);
  });
});
