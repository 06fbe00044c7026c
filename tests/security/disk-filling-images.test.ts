/** Images that try to fill the disk in various ways: part of it stays free. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdirSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, beforeEach, test } from 'node:test';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { type FixtureEntry, tarArchive } from '../../packages/images/src/unpack/tar-writer.fixture.ts';
import { LayerUnpacker } from '../../packages/images/src/unpack/unpack-layer.ts';
import { UnpackLimits } from '../../packages/images/src/unpack/unpack-limits.ts';
import { unmountTree } from '../../packages/system/src/mountinfo.ts';
import { mountAll } from '../../packages/system/src/mounts.ts';
import { loadSystem } from '../../packages/system/src/system.ts';
import { FaultyRegistry } from '../images/faulty-registry.ts';
import { openImageRoom } from '../images/image-room.ts';
import { addImage, packLayer } from '../images/made-image.ts';
import { rejects } from '../images/rejects.ts';
import { file, hardLink, unpackEntries } from '../unpack/layer.fixture.ts';
import { Scratch } from '../unpack/scratch.ts';

const system = loadSystem();
const unpacker = new LayerUnpacker({ system });
after(() => unpacker[Symbol.asyncDispose]());

const signal = AbortSignal.timeout(300_000);
const diskBytes = 128 << 20;
let scratch: Scratch;
let disk: string;

beforeEach(() => {
  scratch = new Scratch();
  disk = scratch.directory('disk');
  mountAll(system, [{ type: 'tmpfs', source: 'small', options: [`size=${diskBytes}`, 'nr_inodes=20000'] }], disk);
});
afterEach(() => {
  unmountTree(system, scratch.path);
  scratch[Symbol.dispose]();
});

/** Asserts that unpacking a layer fails with this error, and that most of the reserved twentieth of the disk is still free. */
async function stopsInTime(entries: FixtureEntry[] | Buffer, message: RegExp, parentDirectories?: string[]) {
  const directory = join(disk, randomBytes(4).toString('hex'));
  mkdirSync(directory);
  const unpacking = unpackEntries(unpacker, scratch, entries, { directory, parentDirectories });
  await rejects(unpacking, 'resource_exhausted', message);
  checkLeft();
}

function checkLeft(): void {
  const { bavail, bsize, ffree, files } = statfsSync(disk);
  assert.ok(bavail * bsize > diskBytes * 0.03, `${bavail * bsize} bytes are left`);
  assert.ok(ffree > files * 0.03, `${ffree} files are left`);
}

test('a layer of zeros, which compresses to a thousandth', async () => {
  const bomb = tarArchive([file('x', '0'.repeat(diskBytes * 2))]);
  for (const pack of [gzipSync, zstdCompressSync]) await stopsInTime(pack(bomb), /bytes free.*remove unused images/);
});

test('a layer of empty files', async () => {
  const entries = Array.from({ length: 30_000 }, (_, index) => file(`f${index}`));
  await stopsInTime(entries, /free inodes; remove unused images/);
});

test('a layer that triggers copying a sparse file from a lower layer', async () => {
  const hole = { name: 'x', body: 'abc', pax: { 'GNU.sparse.map': '0,3', 'GNU.sparse.size': String(2 ** 30) } };
  const base = join(disk, 'base');
  mkdirSync(base);
  await unpackEntries(unpacker, scratch, [hole], { directory: base });
  await stopsInTime([hardLink('y', 'x')], /bytes free.*remove unused images/, [base]);
});

test('a layer that is larger than the usable space is not fetched', async () => {
  await using registry = await FaultyRegistry.start();
  await using room = await openImageRoom(join(disk, 'room'), { kind: 'native' });
  const { bavail, bsize } = statfsSync(disk);
  const layer = packLayer(randomBytes(bavail * bsize - (1 << 20)), 'tar');
  addImage(registry, { tag: '1', layers: [layer] });
  const pull = room.images.pull(`${registry.host}/room/app:1`, { signal });
  await rejects(pull, 'resource_exhausted', /its layers take \d+ bytes, .* has \d+ free for images/);
  const { digest } = registry.addBlob(layer.data);
  assert.ok(
    registry.requestsFor('blobs').every(({ path }) => !path.endsWith(digest)),
    'only the config',
  );
  checkLeft();
});

test('an archive of files that belong to no image', async () => {
  await using room = await openImageRoom(join(disk, 'room'), { kind: 'native' });
  const path = scratch.at('archive.tar');
  const entries = [file('index.json', '{"schemaVersion":2,"manifests":[]}'), file('junk', '0'.repeat(diskBytes * 2))];
  writeFileSync(path, gzipSync(tarArchive(entries)));
  const before = statfsSync(disk).bavail;
  await rejects(room.images.load(path, { signal }), 'resource_exhausted', /the disk is full: .* are reserved/);
  checkLeft();
  assert.ok(statfsSync(disk).bavail >= before - 100, 'the space is freed');
});

test('data that belongs to no file is bounded too', () => {
  const limits = new UnpackLimits(scratch.path, 2 ** 40);
  const gibibyte = 2 ** 30;
  for (let count = 0; count < 8; count++) limits.addBytes(gibibyte);
  limits.addContent(gibibyte);
  limits.addBytes(gibibyte);
  assert.throws(() => limits.addBytes(1), /more than 8589934592 bytes besides the contents of files/);
});
