/** Hostile layers: they must not change anything outside of their directory, and errors must state the reason. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, readdirSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, beforeEach, suite, test } from 'node:test';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { type FixtureEntry, tarArchive } from '../../packages/images/src/unpack/tar-writer.fixture.ts';
import { LayerUnpacker } from '../../packages/images/src/unpack/unpack-layer.ts';
import type { UnpackOptions } from '../../packages/images/src/unpack/unpack-options.ts';
import { unmountTree } from '../../packages/system/src/mountinfo.ts';
import { mountAll } from '../../packages/system/src/mounts.ts';
import { loadSystem } from '../../packages/system/src/system.ts';
import { describeTree } from '../snapshots/describe-tree.ts';
import { directory, file, hardLink, symlink, text, unpackEntries } from './layer.fixture.ts';
import { Scratch } from './scratch.ts';

const system = loadSystem();
const unpacker = new LayerUnpacker({ system });
after(() => unpacker[Symbol.asyncDispose]());

let scratch: Scratch;
let outside: string;

beforeEach(() => {
  scratch = new Scratch();
  outside = scratch.directory('outside');
  mkdirSync(join(outside, 'directory'));
  writeFileSync(join(outside, 'secret'), 'secret');
});
afterEach(() => {
  unmountTree(system, scratch.path);
  scratch[Symbol.dispose]();
});

/** Unpacks a layer with these entries, and asserts that the directory next to the layer's directory is unchanged. */
async function unpack(entries: FixtureEntry[] | Buffer, options: Partial<UnpackOptions> = {}): Promise<void> {
  const before = describeTree(outside, system);
  try {
    await unpackEntries(unpacker, scratch, entries, options);
  } finally {
    assert.deepEqual(describeTree(outside, system), before, 'something outside has changed');
  }
}

function refuses(
  entries: FixtureEntry[] | Buffer,
  code: string,
  message: RegExp,
  options?: Partial<UnpackOptions>,
): Promise<void> {
  return assert.rejects(unpack(entries, options), (error: Error & { code: string }) => {
    assert.equal(error.code, code, error.message);
    assert.match(error.message, message);
    return true;
  });
}

suite('escapes from the directory', () => {
  test('names with .. that lead out of the layer are refused, others are resolved', async () => {
    for (const name of ['../outside/x', '..', 'a/../../outside/x', '/../x', 'a/b/../../../x']) {
      await refuses([file(name, 'x')], 'invalid_argument', /leads out of it/);
    }
    await unpack([file('a/../b', 'inside')]);
    assert.equal(text(scratch.at('layer/b')), 'inside');
  });

  test('links in parent directories are resolved inside the layer', async () => {
    await unpack([symlink('abs', outside), file('abs/x', 'x'), symlink('up', '../../../..'), file('up/y', 'y')]);
    assert.equal(text(join(scratch.at('layer'), outside, 'x')), 'x');
    assert.equal(text(scratch.at('layer/y')), 'y');
  });

  test('a file replaces a link with the same name instead of being written through it', async () => {
    await unpack([symlink('x', join(outside, 'secret')), file('x', 'mine', { mode: 0o777, uid: 99 })]);
    assert.equal(text(scratch.at('layer/x')), 'mine');
  });

  test('a directory replaces a link with the same name, and attributes are set on the directory', async () => {
    await unpack([symlink('x', outside), directory('x', { mode: 0o777, uid: 99 }), file('x/y', 'y')]);
    assert.ok(lstatSync(scratch.at('layer/x')).isDirectory());
    assert.equal(text(scratch.at('layer/x/y')), 'y');
  });

  test('if a link replaces a directory, the directory’s deferred attributes are not set through the link', async () => {
    const pax = { 'SCHILY.xattr.user.evil': 'x', mtime: '5' };
    await unpack([
      directory('d', { pax }),
      directory('d/directory', { pax }),
      file('d/secret', 'x', { pax }),
      symlink('d', outside),
    ]);
    assert.ok(lstatSync(scratch.at('layer/d')).isSymbolicLink());
  });

  test('hard links can only point to files in the layer', async () => {
    for (const target of ['../outside/secret', 'a/../../outside/secret', '..']) {
      await refuses([hardLink('x', target)], 'invalid_argument', /leads out of it/);
    }
    await refuses([hardLink('x', join(outside, 'secret'))], 'invalid_argument', /which does not exist/);
    await refuses([symlink('l', outside), hardLink('x', 'l/secret')], 'invalid_argument', /which does not exist/);
    await refuses([directory('d'), hardLink('x', 'd')], 'invalid_argument', /hard link to a directory/);
    await refuses([hardLink('x', '/')], 'invalid_argument', /hard link to the root/);
    await unpack([symlink('s', join(outside, 'secret')), hardLink('x', 's'), file('x', 'mine')]);
    assert.equal(text(scratch.at('layer/x')), 'mine');
  });

  test('hard links to files in parent layers do not follow links there', async () => {
    await unpackEntries(unpacker, scratch, [symlink('l', outside), file('f', '1')], { name: 'base' });
    const parentDirectories = [scratch.at('base')];
    await refuses([hardLink('x', 'l/secret')], 'invalid_argument', /which does not exist/, { parentDirectories });
  });

  test('whiteouts delete only names in their own directory', async () => {
    for (const name of ['.wh.', '.wh..', '.wh...', 'a/.wh.', 'a/.wh...']) {
      await refuses([directory('a'), file(name)], 'invalid_argument', /names no file/);
    }
    mkdirSync(scratch.at('layer'), { recursive: true });
    await unpack([symlink('l', outside), file('l/.wh.secret'), file('l/.wh..wh..opq')], { overlayWhiteouts: false });
  });

  test('extended attributes that control overlayfs are ignored', async () => {
    const pax = { 'SCHILY.xattr.trusted.overlay.redirect': '/etc', 'SCHILY.xattr.trusted.overlay.opaque': 'y' };
    await unpack([directory('d', { pax }), file('f', '', { pax })]);
    for (const name of ['d', 'f']) assert.deepEqual(system.listXattrs(scratch.at(`layer/${name}`)), []);
  });

  test('link loops are rejected', async () => {
    await refuses([symlink('a', 'b'), symlink('b', 'a'), file('a/x')], 'invalid_argument', /too many symbolic links/);
    await refuses([symlink('a', 'a/a/a/a'), file('a/x')], 'invalid_argument', /too many symbolic links/);
  });
});

suite('invalid entries', () => {
  test('a file cannot serve as a directory', async () => {
    await refuses(
      [file('a', 'x'), file('a/b', 'y')],
      'invalid_argument',
      /"a" is not a directory, but has entries below/,
    );
    await refuses([file('.', 'x')], 'invalid_argument', /the root is a file/);
    await refuses([symlink('/', 'x')], 'invalid_argument', /the root is a symlink/);
  });

  test('names longer than the kernel allows are refused', async () => {
    await refuses([{ name: 'x', pax: { path: 'n'.repeat(256) } }], 'invalid_argument', /name too long/);
    await refuses([{ name: 'x', pax: { path: 'n/'.repeat(3000) } }], 'invalid_argument', /a name has 6000 bytes/);
  });

  test('an empty link target, a device number out of range and an oversized attribute are rejected', async () => {
    await refuses([symlink('x', '')], 'not_found', /create "x"/);
    await refuses([{ name: 'x', flag: '3', device: [5000, 0] }], 'invalid_argument', /out of range/);
    const pax = { 'SCHILY.xattr.user.big': 'x'.repeat(70_000) };
    await refuses([{ name: 'x', pax }], 'invalid_argument', /attribute of 70000 bytes/);
  });

  test('the last of several entries with the same name wins', async () => {
    const kinds = (index: number): FixtureEntry =>
      [directory('x'), file('x', `${index}`), symlink('x', 'y'), { name: 'x', flag: '6' }, file('x/y', 'z')][
        index % 5
      ]!;
    const entries = Array.from({ length: 200 }, (_, index) => kinds([0, 4, 2, 3, 1][index % 5]!)).flatMap((entry) => [
      entry,
    ]);
    await unpack([...entries, file('x', 'last')].filter((entry) => entry.name === 'x'));
    assert.equal(text(scratch.at('layer/x')), 'last');
  });
});

suite('compression', () => {
  const archive = tarArchive([file('x', 'content'.repeat(1000))]);

  test('is detected from the content, not from the media type', async () => {
    const many = (pack: (bytes: Buffer) => Buffer) =>
      Buffer.concat([pack(archive.subarray(0, 700)), pack(archive.subarray(700))]);
    const skippable = Buffer.from('502a4d1804000000abcdef01', 'hex');
    const blobs = [archive, gzipSync(archive), zstdCompressSync(archive), many(gzipSync), many(zstdCompressSync)];
    for (const blob of [...blobs, Buffer.concat([skippable, zstdCompressSync(archive), skippable])]) {
      const result = await unpackEntries(unpacker, scratch, blob, {
        mediaType: 'text/html',
        name: randomBytes(4).toString('hex'),
      });
      assert.equal(result.diffId, `sha256:${createHash('sha256').update(archive).digest('hex')}`);
      assert.deepEqual([result.entries, result.sizeBytes], [1, 7000]);
    }
  });

  test('allows certain data after the stream and any data after the archive, as well as empty streams and archives', async () => {
    const garbage = Buffer.from('garbage, and more of it');
    const followed = Buffer.concat([archive, garbage]);
    const zeros = Buffer.alloc(1024);
    const cases: [string, Buffer, Buffer, number][] = [
      ['an archive', followed, followed, 1],
      ['a compressed archive', gzipSync(followed), followed, 1],
      ['a gzip stream', Buffer.concat([gzipSync(archive), zeros]), archive, 1],
      ['a gzip stream with many zeros', Buffer.concat([gzipSync(archive), Buffer.alloc(3 << 20)]), archive, 1],
      ['no archive', Buffer.alloc(0), Buffer.alloc(0), 0],
      ['no archive, compressed', gzipSync(Buffer.alloc(0)), Buffer.alloc(0), 0],
      ['an empty archive', gzipSync(zeros), zeros, 0],
    ];
    for (const [what, blob, content, count] of cases) {
      const { diffId, entries } = await unpackEntries(unpacker, scratch, blob, {
        name: randomBytes(4).toString('hex'),
      });
      const expected = `sha256:${createHash('sha256').update(content).digest('hex')}`;
      assert.deepEqual([diffId, entries], [expected, count], what);
    }
    for (const pack of [gzipSync, zstdCompressSync])
      await refuses(Buffer.concat([pack(archive), garbage]), 'data_loss', /stream is damaged or truncated/);
  });

  test('is named in the error if layers cannot have it', async () => {
    await refuses(Buffer.from('425a6839314159', 'hex'), 'unimplemented', /bzip2; use gzip, zstd or no compression/);
    await refuses(Buffer.from('fd377a585a000004', 'hex'), 'unimplemented', /xz/);
    await refuses(gzipSync(archive), 'unimplemented', /encrypted/, { mediaType: 'x+encrypted' });
    await refuses(brotliCompressSync(archive), 'data_loss', /ends in the middle|checksum/);
  });

  test('is refused if the stream is truncated or damaged', async () => {
    const random = tarArchive([file('x', randomBytes(300_000).toString('base64'))]);
    for (const pack of [gzipSync, zstdCompressSync]) {
      const blob = pack(random);
      await refuses(
        blob.subarray(0, blob.length / 2),
        'data_loss',
        /stream is damaged or truncated|ends in the middle/,
      );
      await refuses(blob.subarray(0, -1), 'data_loss', /stream is damaged or truncated/);
      await refuses(blob.subarray(0, 20), 'data_loss', /stream is damaged or truncated/);
      const damaged = Buffer.from(blob);
      damaged.fill(0xff, 40, 200);
      await refuses(damaged, 'data_loss', /stream is damaged/);
    }
    const followed = Buffer.concat([zstdCompressSync(random), Buffer.from('something else')]);
    await refuses(followed, 'data_loss', /other data follows its frames/);
    await refuses(random.subarray(0, 100_000), 'data_loss', /ends in the middle of x/);
  });
});

suite('bombs', () => {
  test('a layer with more bytes than allowed is rejected', async () => {
    const bomb = gzipSync(tarArchive([file('x', '0'.repeat(50 << 20))]));
    assert.ok(bomb.length < 100_000);
    await refuses(bomb, 'resource_exhausted', /more than the 10485760 bytes/, { maxBytes: 10 << 20 });
    assert.ok(lstatSync(scratch.at('layer/x')).size <= 11 << 20);
    const zeros = gzipSync(Buffer.alloc(50 << 20));
    await refuses(zeros, 'resource_exhausted', /more than the 10485760 bytes/, { maxBytes: 10 << 20 });
  });

  test('a full disk is reported, and some space is left free', async () => {
    const disk = scratch.directory('disk');
    mountAll(system, [{ type: 'tmpfs', source: 'small', options: ['size=8m'] }], disk);
    const target = join(disk, 'layer');
    mkdirSync(target);
    const bomb = gzipSync(tarArchive([file('x', '0'.repeat(50 << 20))]));
    await refuses(bomb, 'resource_exhausted', /no space left|bytes free.*remove unused images/, { directory: target });
    mountAll(system, [{ type: 'tmpfs', source: 'few files', options: ['nr_inodes=50'] }], disk);
    mkdirSync(target);
    const entries = Array.from({ length: 100 }, (_, index) => file(`f${index}`));
    await refuses(entries, 'resource_exhausted', /create "f4[0-9]": .*no space left on device/, { directory: target });
  });

  test('huge sparse files take no space', async () => {
    const before = statfsSync(scratch.path);
    await unpack([{ name: 'x', body: 'abc', pax: { 'GNU.sparse.map': '0,3', 'GNU.sparse.size': String(2 ** 40) } }]);
    assert.equal(lstatSync(scratch.at('layer/x')).size, 2 ** 40);
    assert.ok((before.bfree - statfsSync(scratch.path).bfree) * before.bsize < 100 << 20);
    const pax = { 'GNU.sparse.map': '0,3', 'GNU.sparse.size': String(Number.MAX_SAFE_INTEGER) };
    await assert.rejects(unpack([{ name: 'x', body: 'abc', pax }]), /file too large/);
  });
});

suite('aborting', () => {
  const big = gzipSync(tarArchive(Array.from({ length: 6000 }, (_, index) => file(`d${index % 100}/f${index}`, 'x'))), {
    level: 1,
  });

  test('an aborted unpacking rejects with the reason and writes nothing more', async () => {
    const controller = new AbortController();
    const reason = new Error('aborted');
    let reports = 0;
    const onProgress = () => {
      reports++;
      controller.abort(reason);
    };
    await assert.rejects(unpack(big, { signal: controller.signal, onProgress }), reason);
    assert.equal(reports, 1);
    const count = () =>
      readdirSync(scratch.at('layer')).map((name) => readdirSync(join(scratch.at('layer'), name)).length);
    const before = count();
    await unpackEntries(unpacker, scratch, [file('x')], { name: 'another' });
    assert.deepEqual(count(), before);
  });

  test('an unpacking aborted while waiting rejects at once, and others are not affected', async () => {
    const controller = new AbortController();
    const running = ['a', 'b'].map((name) => unpackEntries(unpacker, scratch, big, { name }));
    const waiting = unpackEntries(unpacker, scratch, big, { name: 'c', signal: controller.signal });
    controller.abort(new Error('aborted'));
    await assert.rejects(waiting, /aborted/);
    assert.deepEqual(readdirSync(scratch.at('c')), []);
    for (const { entries } of await Promise.all(running)) assert.equal(entries, 6000);
  });

  test('an idle unpacker does not prevent the process from exiting', () => {
    const blob = scratch.at('alive.blob');
    writeFileSync(blob, gzipSync(tarArchive([file('x')])));
    const script = `
      import { LayerUnpacker } from '${import.meta.resolve('../../packages/images/src/unpack/unpack-layer.ts')}';
      import { loadSystem } from '${import.meta.resolve('../../packages/system/src/system.ts')}';
      const unpacker = new LayerUnpacker({ system: loadSystem() });
      const { entries } = await unpacker.unpackLayer({ blobPath: '${blob}', mediaType: '', directory: '${scratch.directory('alive')}',
        overlayWhiteouts: true, signal: AbortSignal.timeout(60000) });
      console.log(entries);
      const endMs = performance.now();
      process.on('exit', () => console.log(performance.now() - endMs < 4000 ? 'at once' : 'late'));`;
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
    assert.equal(stdout, '1\nat once\n');
    assert.ok(existsSync(scratch.at('alive/x')));
  });
});
