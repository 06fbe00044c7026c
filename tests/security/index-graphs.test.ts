/** Indexes that refer to many others: a pull requests only a few documents, whatever the graph (GO-2026-6597). */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { mediaTypes } from '../../packages/images/src/spec/media-types.ts';
import { openRoomWithRegistry } from '../images/image-room.ts';
import { LayoutDirectory } from '../images/layout-directory.ts';
import { addImage, type BlobSink, hostArchitecture, makeLayer } from '../images/made-image.ts';
import { rejects } from '../images/rejects.ts';

const signal = AbortSignal.timeout(120_000);
const layer = makeLayer({ a: 'a' });
type Descriptor = { digest: string; size: number; mediaType: string };

const addIndex = (sink: BlobSink, manifests: object[], name = 'x'): Descriptor =>
  sink.addManifest(name, { schemaVersion: 2, mediaType: mediaTypes.ociIndex, manifests }, mediaTypes.ociIndex);

/** Adds an index with three levels of ten indexes each, with ten images at each leaf, none of them for this platform: 1,000 images. */
function addTree(sink: BlobSink, depth = 3, path = ''): Descriptor {
  const entries = Array.from({ length: 10 }, (_, index) => {
    const tag = `${path}-${index}`;
    if (depth > 1) return addTree(sink, depth - 1, tag);
    return addImage(sink, { tag, layers: [layer], architecture: 's390x' }).manifest;
  });
  return addIndex(sink, entries, path === '' ? '1' : path);
}

async function start(t: TestContext) {
  const { registry, room } = await openRoomWithRegistry(t);
  return { registry, room, pull: () => room.images.pull(`${registry.host}/room/app:1`, { signal }) };
}

test('a tree of a thousand images is rejected after a limited number of requests', async (t) => {
  const { registry, room, pull } = await start(t);
  addTree(registry);
  await rejects(pull(), 'resource_exhausted', /searched more than 32 manifests and configs/);
  assert.ok(registry.requests.length < 50, `${registry.requests.length} requests`);
  await room.images.collectGarbage();
});

test('a repeated index is requested only once', async (t) => {
  const { registry, pull } = await start(t);
  let { manifest: inner }: { manifest: Descriptor } = addImage(registry, {
    tag: 'x',
    layers: [layer],
    architecture: 's390x',
  });
  for (let level = 0; level < 3; level++) inner = addIndex(registry, Array(10).fill(inner), level === 2 ? '1' : 'x');
  await rejects(pull(), 'not_found', /no image for/);
  assert.ok(registry.requests.length < 10, `${registry.requests.length} requests`);
});

test('indexes nested deeper than any tool writes are rejected, with or without a platform', async (t) => {
  const { registry, pull } = await start(t);
  const platform = { os: 'linux', architecture: hostArchitecture };
  for (const more of [{ platform }, {}]) {
    let { manifest: inner }: { manifest: Descriptor } = addImage(registry, { tag: 'x', layers: [layer] });
    for (let level = 0; level < 5; level++)
      inner = addIndex(registry, [{ ...inner, ...more }], level === 4 ? '1' : 'x');
    await rejects(pull(), 'invalid_argument', /more than 3 nested indexes/);
  }
});

test('an archive with such a tree is rejected too, and nothing from it is stored', async (t) => {
  const { room } = await start(t);
  const directory = new LayoutDirectory(join(room.root, 'layout'));
  directory.writeIndex([addTree(directory)]);
  await rejects(
    room.images.load(directory.path, { signal }),
    'resource_exhausted',
    /more than 32 manifests and configs/,
  );
  assert.deepEqual([room.images.list(), (await room.images.usage()).images.sizeBytes], [[], 0]);
});

test('an image in nested indexes keeps the indexes leading to it, and garbage collection follows only those', async (t) => {
  const { registry, room, pull } = await start(t);
  const { manifest, id } = addImage(registry, { tag: 'x', layers: [layer] });
  const many = Array.from({ length: 5000 }, (_, index) => ({
    ...manifest,
    digest: `sha256:${String(index).padStart(64, '0')}`,
    platform: { os: 'plan9', architecture: 'x' },
  }));
  addIndex(registry, [addIndex(registry, [...many, manifest])], '1');
  await pull();
  await room.images.collectGarbage();
  const { images } = await room.images.usage();
  assert.equal(room.images.find(id)?.id, id);
  assert.equal(
    images.inodes,
    7,
    'two indexes, manifest, config, layer; the directory of its snapshot and the file in it',
  );
  await room.images.remove(id);
  assert.equal((await room.images.usage()).images.sizeBytes, 0);
});
