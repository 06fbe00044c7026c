/**
 * Layers and images that try to access the host, in addition to those in `tests/unpack/hostile-layers.test.ts`. Other runtimes had bugs
 * with out-of-range device numbers, with whiteouts lost during parallel unpacking (containerd#13125), and a race during extraction
 * (containerd#12961).
 */
import assert from 'node:assert/strict';
import { existsSync, lstatSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, beforeEach, suite, test } from 'node:test';
import { tarArchive, withChecksum } from '../../packages/images/src/unpack/tar-writer.fixture.ts';
import { LayerUnpacker } from '../../packages/images/src/unpack/unpack-layer.ts';
import { unmountTree } from '../../packages/system/src/mountinfo.ts';
import { mountAll } from '../../packages/system/src/mounts.ts';
import { loadSystem } from '../../packages/system/src/system.ts';
import { FaultyRegistry } from '../images/faulty-registry.ts';
import { openImageRoom } from '../images/image-room.ts';
import { addImage, packLayer } from '../images/made-image.ts';
import { rejects } from '../images/rejects.ts';
import { describeTree } from '../snapshots/describe-tree.ts';
import { directory, file, symlink, text, unpackEntries } from '../unpack/layer.fixture.ts';
import { Scratch } from '../unpack/scratch.ts';

const system = loadSystem();
const unpacker = new LayerUnpacker({ system });
after(() => unpacker[Symbol.asyncDispose]());
const signal = AbortSignal.timeout(300_000);

let scratch: Scratch;
let outside: string;
beforeEach(() => {
  scratch = new Scratch();
  outside = scratch.directory('outside');
  mkdirSync(join(outside, 'folder'));
  writeFileSync(join(outside, 'secret'), 'secret');
});
afterEach(() => {
  unmountTree(system, scratch.path);
  scratch[Symbol.dispose]();
});

suite('devices', () => {
  /** Returns an archive with a device that has these numbers, encoded as eight bytes each (octal or binary). */
  function device(major: Buffer, minor: Buffer): Buffer {
    const archive = tarArchive([{ name: 'x', flag: '3' }]);
    const block = archive.subarray(0, 512);
    major.copy(block, 329);
    minor.copy(block, 337);
    withChecksum(block);
    return archive;
  }
  const binary = (value: bigint) => {
    const field = Buffer.alloc(8);
    field.writeBigUInt64BE(BigInt.asUintN(64, value));
    field[0]! |= 0x80;
    return field;
  };

  test('with numbers out of range are rejected, not truncated to those of another device', async () => {
    const [mem, zero] = [binary(1n), binary(0n)];
    // truncated to 32 bits, or to the 12 and 20 bits used by the kernel, these would be /dev/mem or a whiteout
    const wrong: [Buffer, Buffer][] = [
      [binary((1n << 32n) + 1n), mem],
      [binary(4096n + 1n), mem],
      [mem, binary((1n << 32n) + 1n)],
      [mem, binary((1n << 20n) + 1n)],
      [binary(1n << 32n), zero],
      [binary(-1n), mem],
      [mem, binary(-(1n << 31n))],
      [binary(1n << 60n), mem],
      [Buffer.from('7777777\0'), mem],
    ];
    for (const [major, minor] of wrong) {
      await rejects(unpackEntries(unpacker, scratch, device(major, minor)), 'invalid_argument', /out of range|is not/);
      assert.equal(existsSync(scratch.at('layer/x')), false);
    }
    await unpackEntries(unpacker, scratch, device(mem, mem));
    assert.equal(lstatSync(scratch.at('layer/x')).rdev, statSync('/dev/mem', { throwIfNoEntry: false })?.rdev ?? 0x101);
  });
});

suite('whiteouts', () => {
  const base = [directory('d'), file('d/old', 'old'), file('gone', 'x'), directory('e'), file('e/old', 'old')];

  test('that go through links or hide a link target stay within the layer', async () => {
    const before = describeTree(outside, system);
    const attack = [
      symlink('l', outside),
      file('l/.wh.secret'),
      file('l/.wh..wh..opq'),
      symlink('up', '../../../..'),
      file(`up${outside}/.wh..wh..opq`),
      symlink('x', join(outside, 'folder')),
      file('.wh.x'),
      file('x/.wh..wh..opq'),
    ];
    for (const overlayWhiteouts of [true, false]) {
      await unpackEntries(unpacker, scratch, attack, { name: `layer-${overlayWhiteouts}`, overlayWhiteouts });
      assert.deepEqual(describeTree(outside, system), before);
      assert.deepEqual(system.listXattrs(join(outside, 'folder')), []);
    }
  });

  test('are kept when images that share layers are unpacked in parallel', async () => {
    const layers = [
      packLayer(tarArchive(base), 'gzip'),
      packLayer(
        tarArchive([file('.wh.gone'), file('d/.wh..wh..opq'), file('d/new', 'new'), file('e/.wh.old')]),
        'gzip',
      ),
    ];
    for (const kind of ['auto', 'native'] as const) {
      await using registry = await FaultyRegistry.start();
      await using room = await openImageRoom(scratch.at(`room-${kind}`), { kind });
      const count = 6;
      for (let index = 0; index < count; index++) {
        const own = packLayer(tarArchive([file('d/.wh.new'), file(`own-${index}`, 'x')]), 'gzip');
        addImage(registry, { tag: String(index), layers: [...layers, own] });
      }
      const pull = (index: number) => room.images.pull(`${registry.host}/room/app:${index}`, { signal });
      const images = await Promise.all(Array.from({ length: count }, (_, index) => pull(index)));
      for (const [index, { chainId }] of images.entries()) {
        const key = `look-${index}`;
        const target = scratch.directory(`${kind}-${index}`);
        mountAll(system, await room.snapshotter.prepare(key, chainId), target);
        assert.deepEqual(readdirSync(target).sort(), ['d', 'e', `own-${index}`]);
        assert.deepEqual([readdirSync(join(target, 'd')), readdirSync(join(target, 'e'))], [[], []]);
        unmountTree(system, target);
        await room.snapshotter.remove(key);
      }
    }
  });
});

test('a name that alternates between a directory, a link and a file a thousand times is never followed out of the layer', async () => {
  const before = describeTree(outside, system);
  const turns = Array.from({ length: 1000 }, (_, index) => [
    directory('x', { mode: 0o700 }),
    file('x/secret', 'evil', { mode: 0o4777, uid: 99 }),
    symlink('x', outside),
    ...(index % 2 === 0 ? [] : [file('x', 'file', { mode: 0o777, uid: 99 })]),
    directory('x', { mode: 0o777, uid: 99, pax: { 'SCHILY.xattr.user.evil': 'x', mtime: '5' } }),
  ]).flat();
  await unpackEntries(unpacker, scratch, turns);
  assert.deepEqual(describeTree(outside, system), before);
  assert.ok(lstatSync(scratch.at('layer/x')).isDirectory());
  assert.equal(text(join(outside, 'secret')), 'secret');
});
