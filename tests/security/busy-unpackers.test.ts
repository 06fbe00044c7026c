/** Small layers that would keep an unpacker busy for hours or exhaust its memory: each is unpacked or rejected within seconds. */
import assert from 'node:assert/strict';
import { after, afterEach, beforeEach, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { type FixtureEntry, paxRecord, tarArchive } from '../../packages/images/src/unpack/tar-writer.fixture.ts';
import { LayerUnpacker } from '../../packages/images/src/unpack/unpack-layer.ts';
import type { UnpackOptions } from '../../packages/images/src/unpack/unpack-options.ts';
import { loadSystem } from '../../packages/system/src/system.ts';
import { rejects } from '../images/rejects.ts';
import { directory, file, symlink, unpackEntries } from '../unpack/layer.fixture.ts';
import { Scratch } from '../unpack/scratch.ts';

const unpacker = new LayerUnpacker({ system: loadSystem() });
after(() => unpacker[Symbol.asyncDispose]());

/**
 * Time limit for unpacking each of the layers below, which takes less than a second; without limits in the unpacker, it took a minute or
 * more.
 */
const patienceMs = 15_000;
let scratch: Scratch;
beforeEach(() => {
  scratch = new Scratch();
});
afterEach(() => scratch[Symbol.dispose]());

function unpack(entries: FixtureEntry[] | Buffer, options: Partial<UnpackOptions> = {}) {
  return unpackEntries(unpacker, scratch, entries, { signal: AbortSignal.timeout(patienceMs), ...options });
}

const sparse = { 'GNU.sparse.major': '1', 'GNU.sparse.minor': '0', 'GNU.sparse.realsize': '1' };
const manyParts = 1 << 17;

test('a sparse file with a huge number of segments', async () => {
  const map = `${manyParts}\n${'000000000000\n'.repeat(2 * manyParts)}`;
  const body = Buffer.alloc(Math.ceil(map.length / 512) * 512);
  body.write(map);
  const blob = gzipSync(tarArchive([{ name: 'x', body, pax: sparse }]));
  assert.ok(blob.length < 20_000, `${blob.length} bytes`);
  assert.equal((await unpack(blob)).entries, 1);
});

test('a sparse file whose map has too many parts, endless numbers, or is missing', async () => {
  const refuses = (map: string, message: RegExp) =>
    rejects(
      unpack([{ name: 'x', body: map.padEnd(512 * Math.ceil(map.length / 512)), pax: sparse }]),
      'invalid_argument',
      message,
    );
  await refuses(`${manyParts + 1}\n`, /too many parts/);
  await refuses('1'.repeat(1 << 20), /invalid number/);
  await refuses('1\n0\n\n', /invalid number/);
  await refuses('2\n0\n1\n0\n1\n', /overlap or exceed its size/);
  const list = { 'GNU.sparse.map': '0,0,'.repeat(200_000), 'GNU.sparse.size': '1' };
  await rejects(unpack([{ name: 'x', pax: list }]), 'invalid_argument', /sparse map is incomplete/);
});

test('names that go through links over and over', async () => {
  const long = './'.repeat(2000);
  const links = Array.from(
    { length: 250 },
    (_, index): FixtureEntry => ({ name: `l${index}`, flag: '2', pax: { linkpath: `${long}l${index + 1}` } }),
  );
  const entries = [directory('l250'), ...links, ...Array.from({ length: 5000 }, (_, index) => file(`l0/f${index}`))];
  await rejects(unpack(entries), 'invalid_argument', /too many symbolic links/);
});

test('a huge number of names that each have the maximum number of links', async () => {
  const hops = Array.from({ length: 254 }, (_, index) => symlink(`l${index}`, `${'./'.repeat(30)}l${index + 1}`));
  const entries = [directory('l254'), ...hops, ...Array.from({ length: 12_000 }, () => file('l0/x'))];
  const blob = gzipSync(tarArchive(entries));
  assert.ok(blob.length < 50_000, `${blob.length} bytes`);
  await rejects(unpack(blob), 'resource_exhausted', /too many symbolic links/);
});

test('a normal layer with many names and the usual links of distributions', async () => {
  const links = [directory('usr'), directory('usr/lib'), symlink('lib', 'usr/lib'), symlink('lib64', '/lib')];
  const files = Array.from({ length: 20_000 }, (_, index) => directory(`lib64/d${index}`));
  assert.equal((await unpack([...links, ...files])).entries, 20_004);
});

test('a directory with repeated opaque whiteouts', async () => {
  const files = Array.from({ length: 6000 }, (_, index) => file(`d/f${index}`));
  const marks = Array.from({ length: 6000 }, () => file('d/.wh..wh..opq'));
  const { entries } = await unpack([directory('d'), ...files, ...marks], { overlayWhiteouts: false });
  assert.equal(entries, 12_001);
});

test('global attributes that would be kept in memory', async () => {
  const header = (index: number): FixtureEntry => ({
    name: 'g',
    flag: 'g',
    body: paxRecord(`SCHILY.xattr.user.${index}`, Buffer.alloc(1_000_000)),
  });
  const big = Array.from({ length: 50 }, (_, index) => header(index));
  await rejects(unpack(big), 'invalid_argument', /too many global PAX records/);
  const many = Array.from({ length: 101 }, (_, index) => paxRecord(`key${index}`, 'x'));
  await rejects(unpack([{ name: 'g', flag: 'g', body: Buffer.concat(many) }]), 'invalid_argument', /too many global/);
});
