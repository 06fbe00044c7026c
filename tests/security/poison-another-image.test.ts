/** A registry serves an image's public config along with other blobs, to corrupt that image or obtain its files. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { mediaTypes } from '../../packages/images/src/spec/media-types.ts';
import { FaultyRegistry } from '../images/faulty-registry.ts';
import { openImageRoom, scratch } from '../images/image-room.ts';
import { addImage, hostArchitecture, makeLayer, packLayer } from '../images/made-image.ts';
import { rejects } from '../images/rejects.ts';

const signal = AbortSignal.timeout(120_000);
const noLayer = Buffer.from('this is not a layer at all');

/** Starts a node that has pulled the victim's image; the attacker's images are in the same registry. */
async function start(t: TestContext) {
  const registry = await FaultyRegistry.start();
  t.after(() => registry[Symbol.asyncDispose]());
  const layer = makeLayer({ secret: 'of the victim' }, 'tar');
  const { id } = addImage(registry, { tag: 'victim', layers: [packLayer(layer.data, 'gzip')] });
  const root = await scratch(t);
  const nameOf = (tag: string) => `${registry.host}/room/app:${tag}`;
  {
    await using room = await openImageRoom(root);
    await room.images.pull(nameOf('victim'), { signal });
  }
  const { size } = JSON.parse(registry.manifests.get('victim')!.data.toString()).config;
  /** Adds a manifest to the registry that consists of a config and one blob. */
  const addManifest = (tag: string, config: { digest: string; size: number }, data: Buffer, mediaType: string) =>
    registry.addManifest(
      tag,
      {
        schemaVersion: 2,
        mediaType: mediaTypes.ociManifest,
        config: { mediaType: mediaTypes.ociConfig, ...config },
        layers: [{ mediaType, ...registry.addBlob(data) }],
      },
      mediaTypes.ociManifest,
    );
  return { registry, root, nameOf, addManifest, layer, config: { digest: id, size } };
}

test('a blob that is not a layer does not become part of a different image, which survives the loss of its snapshots', async (t) => {
  const { root, nameOf, addManifest, config } = await start(t);
  addManifest('evil', config, noLayer, mediaTypes.ociLayer);
  {
    await using room = await openImageRoom(root);
    const before = room.images.list();
    const pull = room.images.pull(nameOf('evil'), { signal });
    await rejects(pull, 'data_loss', /its uncompressed digest is sha256:|more than \d+ bytes/);
    assert.deepEqual(room.images.list(), before);
    await room.snapshotter.remove(before[0]!.chainId);
  }
  await using room = await openImageRoom(root);
  assert.equal(room.images.find(nameOf('victim'))?.id, config.digest);
});

test('the files of an image cannot be obtained through its diff IDs', async (t) => {
  const { registry, root, nameOf, addManifest, layer } = await start(t);
  const own = {
    architecture: hostArchitecture,
    os: 'linux',
    config: { Cmd: ['cat', '/secret'] },
    rootfs: { type: 'layers', diff_ids: [layer.diffId] },
  };
  addManifest('evil', registry.addBlob(Buffer.from(JSON.stringify(own))), noLayer, mediaTypes.ociLayer);
  await using room = await openImageRoom(root);
  await rejects(room.images.pull(nameOf('evil'), { signal }), 'data_loss', /the config has/);
});

test('a blob that would decompress to far more than the layer is not read to its end', async (t) => {
  const { root, nameOf, addManifest, config } = await start(t);
  addManifest('evil', config, gzipSync(Buffer.alloc(64 << 20)), `${mediaTypes.ociLayer}+gzip`);
  await using room = await openImageRoom(root);
  await rejects(room.images.pull(nameOf('evil'), { signal }), 'data_loss', /more than \d+ bytes/);
});

test('such a blob is not read to the end even if the layer was unpacked by an earlier version that did not record sizes', async (t) => {
  const { root, nameOf, addManifest, config } = await start(t);
  addManifest('evil', config, gzipSync(Buffer.alloc(256 << 20)), `${mediaTypes.ociLayer}+gzip`);
  await using room = await openImageRoom(root);
  room.database.exec('DELETE FROM verified_layers');
  await rejects(room.images.pull(nameOf('evil'), { signal }), 'data_loss', /more than \d+ bytes/);
});

test('a different compression of the same layer is accepted and the record is kept, including records without blobs', async (t) => {
  const { root, nameOf, addManifest, config, layer } = await start(t);
  const other = packLayer(layer.data, 'zstd');
  const { digest } = addManifest('mirror', config, other.data, other.mediaType);
  await using room = await openImageRoom(root);
  room.database.exec('DELETE FROM verified_layers'); // as in an earlier version
  const pull = async (tag: string) => {
    const { manifestDigest, sizeBytes } = await room.images.pull(nameOf(tag), { signal });
    return { manifestDigest, sizeBytes };
  };
  const before = await pull('victim');
  assert.deepEqual(await pull('mirror'), before);
  rmSync(join(root, 'content/blobs', before.manifestDigest.replace(':', '/')));
  assert.equal((await pull('mirror')).manifestDigest, digest, 'the source of the image was lost');
});
