/** Faulty and malicious registries: each pull fails quickly with a meaningful error and leaves nothing behind. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { ErrorCode } from '@podwright/base';
import { mediaTypes } from '../../packages/images/src/spec/media-types.ts';
import { tarArchive } from '../../packages/images/src/unpack/tar-writer.fixture.ts';
import { directory, file, hardLink, symlink } from '../unpack/layer.fixture.ts';
import { FaultyRegistry } from './faulty-registry.ts';
import { type ImageRoom, openImageRoom, scratch } from './image-room.ts';
import { addImage, hostArchitecture, type MadeLayer, makeLayer, packLayer } from './made-image.ts';
import { rejects } from './rejects.ts';

type Blob = { digest: string; size: number };
type Attack = { registry: FaultyRegistry; room: ImageRoom; pull: () => Promise<unknown> };

async function start(t: TestContext): Promise<Attack> {
  const registry = await FaultyRegistry.start();
  const room = await openImageRoom(await scratch(t));
  t.after(async () => {
    await room[Symbol.asyncDispose]();
    await registry[Symbol.asyncDispose]();
  });
  const signal = AbortSignal.timeout(60_000);
  return { registry, room, pull: () => room.images.pull(`${registry.host}/room/app:1`, { signal }) };
}

async function refuses({ room, pull }: Attack, code: ErrorCode | ErrorCode[], message: RegExp): Promise<void> {
  await rejects(pull(), code, message);
  const paths = await readdir(join(room.root, 'content'), { recursive: true });
  assert.deepEqual(
    paths.filter((path) => /[0-9a-f]{64}/.test(path)),
    [],
  );
  assert.deepEqual([room.images.list(), await room.snapshotter.list()], [[], []]);
}

const layer = makeLayer({ a: 'a' });
const blobOf = (registry: FaultyRegistry, value: unknown): Blob =>
  registry.addBlob(
    Buffer.isBuffer(value) ? value : Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)),
  );
const configOf = (diffIds: string[]) => ({
  architecture: hostArchitecture,
  os: 'linux',
  rootfs: { type: 'layers', diff_ids: diffIds },
});

/** Makes the registry serve an image with these layers and an arbitrary value as its config. */
function serve(registry: FaultyRegistry, config: unknown, layers: (Blob & { mediaType: string })[]): void {
  const value = {
    schemaVersion: 2,
    mediaType: mediaTypes.ociManifest,
    config: { mediaType: mediaTypes.ociConfig, ...blobOf(registry, config) },
    layers,
  };
  registry.addManifest('1', value, mediaTypes.ociManifest);
}

test('invalid configs are refused', async (t) => {
  const attack = await start(t);
  const { registry } = attack;
  const good = { mediaType: layer.mediaType, ...registry.addBlob(layer.data) };
  const { rootfs: _rootfs, ...rootless } = configOf([]);
  const wrong: [unknown, RegExp][] = [
    [rootless, /its config: rootfs: /],
    ['', /its config: not JSON/],
    ['[]', /its config: .*expected object/],
    ['null', /its config: .*expected object/],
    [randomBytes(5000), /its config: not JSON/],
    [gzipSync('{}'), /its config: not JSON/],
    ['['.repeat(200_000), /its config: not JSON/],
    ['['.repeat(1_000_000), /its config: more than 300000 JSON values/],
    [`${'['.repeat(200_000)}${']'.repeat(200_000)}`, /its config: .*expected object/],
    [{ ...configOf([layer.diffId]), config: { Env: 'A=b' } }, /its config: config\.Env/],
    [{ ...configOf([layer.diffId]), config: { User: 0 } }, /its config: config\.User/],
    [configOf([]), /0 diff ids for 1 layer/],
    [configOf([layer.diffId, layer.diffId]), /2 diff ids for 1 layer/],
    [configOf(['sha256:xyz']), /diff id "sha256:xyz" is not a sha256 digest/],
    [configOf([`sha512:${'0'.repeat(128)}`]), /is not a sha256 digest/],
  ];
  for (const [config, message] of wrong) {
    serve(registry, config, [good]);
    await refuses(attack, 'invalid_argument', message);
  }
  serve(registry, Buffer.alloc(9 << 20, ' '), [good]);
  await refuses(attack, 'resource_exhausted', /its config has 9437184 bytes/);
});

test('invalid manifests and indexes are refused', async (t) => {
  const attack = await start(t);
  const { registry } = attack;
  const deep = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
  const wrong: [string | Buffer, string, RegExp][] = [
    ['', mediaTypes.ociManifest, /not JSON/],
    ['{}', mediaTypes.ociManifest, /neither an image manifest nor an index/],
    ['"text"', mediaTypes.ociManifest, /expected object/],
    [deep, mediaTypes.ociManifest, /neither an image manifest nor an index/],
    [`{"layers":${deep},"config":${deep}}`, mediaTypes.ociManifest, /config/],
    [`{"manifests":[${'{},'.repeat(10_000)}{}]}`, mediaTypes.ociIndex, /manifests: .*10000/],
    [`[${'{},'.repeat(1_000_000)}{}]`, mediaTypes.ociIndex, /more than 300000 JSON values/],
    [randomBytes(100_000), mediaTypes.ociManifest, /not JSON/],
    ['{"manifests":[]}', mediaTypes.ociManifest, /it is an index, not application/],
    ['{"manifests":[]}', mediaTypes.ociIndex, /no image for .* available: none/],
    ['{"manifests":[{"digest":"../../etc/passwd","size":1}]}', mediaTypes.ociIndex, /manifests\.0\.digest/],
    [`{"manifests":[{"digest":"sha256:${'0'.repeat(64)}","size":-1}]}`, mediaTypes.ociIndex, /manifests\.0\.size/],
    ['{"schemaVersion":1,"fsLayers":[]}', mediaTypes.dockerSignedSchema1, /schema 1 are not supported/],
  ];
  for (const [text, mediaType, message] of wrong) {
    serveRaw(registry, Buffer.from(text), mediaType);
    await refuses(attack, ['invalid_argument', 'not_found'], message);
  }
});

test('a 100 MB manifest is rejected, with or without Content-Length', async (t) => {
  const attack = await start(t);
  const { registry } = attack;
  registry.addManifest('1', {}, mediaTypes.ociManifest);
  const size = 100 << 20;
  registry.faults.push(({ method, path }, response) => {
    if (!path.includes('/manifests/')) return false;
    const digest = `sha256:${'1'.repeat(64)}`;
    response.writeHead(200, {
      'content-type': mediaTypes.ociManifest,
      'content-length': size,
      'docker-content-digest': digest,
    });
    return Boolean(method === 'HEAD' ? response.end() : response.end(Buffer.alloc(size, ' ')));
  });
  await refuses(attack, 'resource_exhausted', /104857600 bytes, more than 4194304/);
  let sent = 0;
  registry.faults = [
    ({ method, path }, response) => {
      if (!path.includes('/manifests/')) return false;
      if (method === 'HEAD') return Boolean(response.writeHead(405).end());
      response.writeHead(200, { 'content-type': mediaTypes.ociManifest });
      const more = () => {
        while (sent < size && response.write(Buffer.alloc(64 << 10, ' '))) sent += 64 << 10;
      };
      response.on('drain', more);
      more();
      return true;
    },
  ];
  await refuses(attack, 'resource_exhausted', /its manifest: more than 4194304 bytes/);
  assert.ok(sent < size / 2, `${sent} bytes were received`);
});

test('an index that refers to itself, to a layer, or to too many manifests is refused', async (t) => {
  const attack = await start(t);
  const { registry } = attack;
  const { manifest } = addImage(registry, { tag: 'good', layers: [layer] });
  const platform = { os: 'linux', architecture: hostArchitecture };
  const self = { ...manifest, digest: `sha256:${'2'.repeat(64)}`, mediaType: mediaTypes.ociIndex, platform };
  const looping = Buffer.from(JSON.stringify({ schemaVersion: 2, manifests: [self] }));
  serveRaw(registry, looping, mediaTypes.ociIndex);
  registry.manifests.set(self.digest, { data: looping, mediaType: mediaTypes.ociIndex });
  await refuses(attack, 'data_loss', /fetch sha256:2222.*: the content is sha256:/);
  const blob = registry.addBlob(layer.data);
  registry.manifests.set(blob.digest, { data: layer.data, mediaType: mediaTypes.ociManifest });
  registry.addManifest('1', { schemaVersion: 2, manifests: [{ ...blob, platform }] }, mediaTypes.ociIndex);
  await refuses(attack, 'invalid_argument', /not JSON/);
  const many = Array.from({ length: 9000 }, () => ({ ...manifest, platform: { os: 'plan9', architecture: 'x' } }));
  registry.addManifest('1', { schemaVersion: 2, manifests: many }, mediaTypes.ociIndex);
  await refuses(attack, ['not_found', 'resource_exhausted'], /available: plan9\/x|more than 4194304/);
});

test('layers that are not archives, have wrong digests, or contain loops are rejected', async (t) => {
  const attack = await start(t);
  const { registry } = attack;
  const odd = (data: Buffer): MadeLayer => ({ ...layer, data });
  const tar = (entries: Parameters<typeof tarArchive>[0]) => packLayer(tarArchive(entries), 'gzip');
  const wrong: [MadeLayer[], ErrorCode[], RegExp][] = [
    [[layer, odd(randomBytes(3000))], ['invalid_argument', 'data_loss'], /unpack layer sha256:/],
    [[odd(Buffer.from('{}'))], ['data_loss'], /ends in the middle/],
    [[odd(gzipSync(layer.data))], ['invalid_argument', 'data_loss'], /unpack layer sha256:/],
    [[odd(layer.data.subarray(0, -9))], ['data_loss'], /damaged or truncated/],
    [
      [layer, { ...layer, diffId: `sha256:${'0'.repeat(64)}` }],
      ['data_loss'],
      /its uncompressed digest is sha256:.*, the config has/,
    ],
    [[tar([file('../../outside', 'x')])], ['invalid_argument'], /leads out of it/],
    [[tar([symlink('a', 'b'), symlink('b', 'a'), file('a/x')])], ['invalid_argument'], /too many symbolic links/],
    [[tar([hardLink('x', '../../../etc/passwd')])], ['invalid_argument'], /leads out of it/],
    [[tar([file('x', 'short', { size: 2 ** 33 - 1 })])], ['data_loss'], /ends in the middle of x/],
    [[tar([directory('d'), file('d/.wh...')])], ['invalid_argument'], /names no file/],
  ];
  for (const [layers, codes, message] of wrong) {
    addImage(registry, { tag: '1', layers });
    await refuses(attack, codes, message);
  }
});

test('a layer that occurs three times is downloaded once and has three snapshots', async (t) => {
  const { registry, room, pull } = await start(t);
  const { id } = addImage(registry, { tag: '1', layers: [layer, layer, layer] });
  await pull();
  assert.equal(registry.requestsFor('blobs').length, 2, 'the config and one layer');
  assert.equal((await room.snapshotter.list()).length, 3);
  await room.images.remove(id);
  assert.deepEqual(await room.snapshotter.list(), []);
});

test('a digest with two different sizes is rejected', async (t) => {
  const attack = await start(t);
  const { registry } = attack;
  const blob = { mediaType: layer.mediaType, ...registry.addBlob(layer.data) };
  serve(registry, configOf([layer.diffId, layer.diffId]), [blob, { ...blob, size: blob.size + 1 }]);
  await refuses(attack, 'data_loss', /it has \d+ bytes, not \d+/);
});

function serveRaw(registry: FaultyRegistry, data: Buffer, mediaType: string): void {
  registry.manifests.set('1', { data, mediaType });
  registry.manifests.set(registry.addBlob(data).digest, { data, mediaType });
}
