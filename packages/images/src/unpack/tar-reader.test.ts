import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { errorCode } from '@podwright/base';
import type { TarHeader } from './tar-header.ts';
import { readTar } from './tar-reader.ts';
import { type FixtureEntry, paxRecord, tarArchive, withChecksum } from './tar-writer.fixture.ts';

type Read = { header: TarHeader; body: Buffer };

/** Yields the archive in chunks of `size` bytes. The entries read must not depend on the chunk boundaries. */
async function* chunks(archive: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < archive.length; at += size) yield archive.subarray(at, at + size);
}

async function readAll(archive: Buffer, chunkBytes = archive.length || 1): Promise<Read[]> {
  const read: Read[] = [];
  for await (const { header, body } of readTar(chunks(archive, chunkBytes))) {
    const pieces: Buffer[] = [];
    for await (const piece of body) pieces.push(Buffer.from(piece));
    read.push({ header, body: Buffer.concat(pieces) });
  }
  return read;
}

async function one(entry: FixtureEntry): Promise<Read> {
  const [read, ...more] = await readAll(tarArchive([entry]));
  assert.equal(more.length, 0);
  return read!;
}

function refuses(archive: Buffer, code: string, message: RegExp): Promise<void> {
  return assert.rejects(readAll(archive), (error: Error) => {
    assert.equal(errorCode(error), code, error.message);
    assert.match(error.message, message);
    return true;
  });
}

suite('headers', () => {
  test('of a regular file are read, whatever the chunk size', async () => {
    const entry = { name: 'a/b', mode: 0o4751, uid: 7, gid: 8, mtime: 1_600_000_000, body: 'x'.repeat(1500) };
    const archive = tarArchive([entry, { name: 'second', body: 'y' }]);
    for (const size of [1, 7, 511, 512, 513, 5000]) {
      const [first, second] = await readAll(archive, size);
      const { type, name, mode, uid, gid, mtimeSeconds } = first!.header;
      assert.deepEqual([type, name, mode, uid, gid, mtimeSeconds], ['file', 'a/b', 0o4751, 7, 8, 1_600_000_000]);
      assert.equal(first!.body.toString(), entry.body);
      assert.equal(second!.body.toString(), 'y');
    }
  });

  test('of every entry type are read', async () => {
    const kinds: [string, string][] = [
      ['0', 'file'],
      ['\0', 'file'],
      ['7', 'file'],
      ['1', 'link'],
      ['2', 'symlink'],
      ['3', 'char'],
      ['4', 'block'],
      ['5', 'directory'],
      ['6', 'fifo'],
    ];
    for (const [flag, type] of kinds) assert.equal((await one({ name: 'x', flag, link: 'y' })).header.type, type);
    assert.equal((await one({ name: 'old/', flag: '\0' })).header.type, 'directory');
    const { major, minor } = (await one({ name: 'x', flag: '3', device: [10, 200] })).header;
    assert.deepEqual([major, minor], [10, 200]);
  });

  test('non-UTF-8 names are preserved byte for byte', async () => {
    const name = Buffer.from([0x61, 0xff, 0x62]);
    assert.deepEqual((await one({ name })).header.nameBytes, name);
  });

  test('PAX records override the header, and binary values are delimited by their length', async () => {
    const value = Buffer.from('a\n12 path=evil\n\0=');
    const pax = {
      path: `${'long/'.repeat(100)}name`,
      linkpath: 'ü',
      uid: '3000000000',
      gid: '4',
      mtime: '1600000000.123456789',
      'SCHILY.xattr.user.bin': value,
      'SCHILY.xattr.user.a%3Db%25': 'x',
      comment: 'ignored',
    };
    const { header } = await one({ name: 'short', flag: '2', pax });
    assert.equal(header.name, pax.path);
    assert.equal(header.linkName, 'ü');
    assert.deepEqual([header.uid, header.gid, header.mtimeSeconds], [3_000_000_000, 4, 1_600_000_000.123456]);
    assert.deepEqual(header.xattrs, [
      { name: 'user.bin', value },
      { name: 'user.a=b%', value: Buffer.from('x') },
    ]);
  });

  test('global PAX records apply to all following entries, until an empty value revokes them', async () => {
    const global = (records: Buffer): FixtureEntry => ({ name: 'g', flag: 'g', body: records });
    const read = await readAll(
      tarArchive([
        global(paxRecord('uid', '5')),
        { name: 'a' },
        { name: 'b', pax: { uid: '6' } },
        { name: 'c', pax: { uid: '' } },
        global(paxRecord('uid', '')),
        { name: 'd', uid: 1 },
      ]),
    );
    assert.deepEqual(
      read.map(({ header }) => header.uid),
      [5, 6, 0, 1],
    );
  });

  test('may have GNU long names and numbers in base 256', async () => {
    const [long, link] = ['n'.repeat(300), 'l'.repeat(300)];
    const entries = [
      { name: '././@LongLink', flag: 'L', body: `${long}\0` },
      { name: '././@LongLink', flag: 'K', body: `${link}\0` },
      { name: 'n', flag: '2', link: 'l' },
    ];
    const [read] = await readAll(tarArchive(entries));
    assert.deepEqual([read!.header.name, read!.header.linkName], [long, link]);
    const archive = tarArchive([{ name: 'x' }]);
    Buffer.from('8000000080000000', 'hex').copy(archive, 108); // uid
    Buffer.from('ffffffffffffffffffffffff', 'hex').copy(archive, 136); // mtime
    withChecksum(archive.subarray(0, 512));
    const { uid, mtimeSeconds } = (await readAll(archive))[0]!.header;
    assert.deepEqual([uid, mtimeSeconds], [0x80000000, -1]);
  });

  test('an archive may end with no zero block, one, or more than two', async () => {
    const archive = tarArchive([{ name: 'x' }], false);
    for (const rest of [0, 512, 1024, 10240]) {
      assert.equal((await readAll(Buffer.concat([archive, Buffer.alloc(rest)]))).length, 1);
    }
    assert.deepEqual(await readAll(Buffer.alloc(0)), []);
  });

  test('an unread body is skipped', async () => {
    const names: string[] = [];
    const archive = tarArchive([{ name: 'a', body: 'x'.repeat(2000) }, { name: 'b' }]);
    for await (const { header, body } of readTar(chunks(archive, 100))) {
      for await (const piece of body) {
        assert.ok(piece.length > 0);
        break;
      }
      names.push(header.name);
    }
    assert.deepEqual(names, ['a', 'b']);
  });
});

suite('sparse files', () => {
  const check = async (archive: Buffer) => {
    const [{ header, body }] = (await readAll(archive)) as [Read];
    assert.equal(header.name, 'sparse');
    assert.equal(header.size, 5000);
    assert.deepEqual(header.sparse, [
      { offset: 1000, length: 3 },
      { offset: 4000, length: 4 },
    ]);
    assert.equal(body.toString(), 'abcdefg');
  };

  test('of the PAX formats', async () => {
    const body = 'abcdefg';
    const map = Buffer.alloc(512);
    map.write('2\n1000\n3\n4000\n4\n');
    const name = { 'GNU.sparse.name': 'sparse' };
    const realSize = { 'GNU.sparse.realsize': '5000' };
    const v1 = { 'GNU.sparse.major': '1', 'GNU.sparse.minor': '0', ...name, ...realSize };
    await check(tarArchive([{ name: 'GNUSparseFile.1/x', body: Buffer.concat([map, Buffer.from(body)]), pax: v1 }]));
    const v01 = { ...name, 'GNU.sparse.size': '5000', 'GNU.sparse.map': '1000,3,4000,4' };
    await check(tarArchive([{ name: 'x', body, pax: v01 }]));
  });

  test('of the old GNU format, with an extension block', async () => {
    const field = (value: number) => `${value.toString(8).padStart(11, '0')}\0`;
    const archive = tarArchive([{ name: 'sparse', flag: 'S', body: 'abcdefg' }]);
    archive.write(field(1000) + field(3), 386, 'latin1');
    archive[482] = 1;
    archive.write(field(5000), 483, 'latin1');
    withChecksum(archive.subarray(0, 512));
    const extension = Buffer.alloc(512);
    extension.write(field(4000) + field(4), 0, 'latin1');
    await check(Buffer.concat([archive.subarray(0, 512), extension, archive.subarray(512)]));
  });

  test('with an invalid map are refused', async () => {
    const sparse = (map: string, size = '5000') => ({ 'GNU.sparse.map': map, 'GNU.sparse.size': size });
    for (const map of ['1000,3,1001,4', '4998,7', '0,6', '1', '9007199254740991,7', '-1,7', '4000,4,1000,3', 'x,7']) {
      await refuses(tarArchive([{ name: 'x', body: 'abcdefg', pax: sparse(map) }]), 'invalid_argument', /sparse/);
    }
    await refuses(tarArchive([{ name: 'x', flag: '5', pax: sparse('0,0') }]), 'invalid_argument', /not a regular file/);
  });
});

test('the padding of the last body may be missing or incomplete', async () => {
  const body = 'x'.repeat(600);
  const whole = tarArchive(
    [
      { name: 'first', body: 'y' },
      { name: 'last', body },
    ],
    false,
  );
  const end = 1024 + 512 + body.length;
  for (const length of [end, end + 1, end + 423, end + 424]) {
    for (const chunkBytes of [end, 100]) {
      const read = await readAll(whole.subarray(0, length), chunkBytes);
      assert.deepEqual(
        read.map(({ body }) => body.toString()),
        ['y', body],
      );
    }
  }
  await refuses(whole.subarray(0, end - 1), 'data_loss', /ends in the middle of last/);
});

suite('archives that are refused', () => {
  const header = tarArchive([{ name: 'file', body: 'x'.repeat(600) }], false);

  test('truncated anywhere except between entries or in padding', async () => {
    for (const length of [1, 511, 513, 600, 1111]) {
      await refuses(header.subarray(0, length), 'data_loss', /ends in the middle/);
    }
    const extended = tarArchive([{ name: 'x', pax: { path: 'y' } }], false);
    await refuses(extended.subarray(0, 1024), 'data_loss', /ends in the middle of an extended header/);
    await refuses(extended.subarray(0, 600), 'data_loss', /extended header/);
  });

  test('with a corrupt header, or of another format', async () => {
    const damaged = Buffer.from(header);
    damaged[3] = 0x58;
    await refuses(damaged, 'invalid_argument', /checksum/);
    await refuses(Buffer.from('<html>'.repeat(200)), 'invalid_argument', /octal|checksum/);
    await refuses(Buffer.concat([Buffer.alloc(512), header]), 'invalid_argument', /follows a block of zeros/);
  });

  test('with out-of-range numbers', async () => {
    const base256 = (hex: string, at: number) => {
      const archive = tarArchive([{ name: 'x' }]);
      Buffer.from(hex, 'hex').copy(archive, at);
      withChecksum(archive.subarray(0, 512));
      return archive;
    };
    await refuses(base256('ffffffffffffffffffffffff', 124), 'invalid_argument', /size -1/);
    await refuses(base256('807fffffffffffffffffffff', 124), 'invalid_argument', /out of range/);
    await refuses(base256('ffffffffffffffff', 108), 'invalid_argument', /owner/);
    const wrong = { size: ['-1', '99999999999999999'], uid: ['4294967295'], mtime: ['now'], gid: ['1e3'] };
    for (const [keyword, values] of Object.entries(wrong)) {
      for (const value of values) {
        await refuses(tarArchive([{ name: 'x', pax: { [keyword]: value } }]), 'invalid_argument', /PAX|owner/);
      }
    }
  });

  test('with invalid extended headers', async () => {
    const pax = (body: string) => tarArchive([{ name: 'p', flag: 'x', body }, { name: 'x' }]);
    for (const body of ['x', '5 a=b\n', '99 a=b\n', '6 a=bc', '0 a=b\n', '6 abc\n', '-6 a=b\n', '999999999 a=b\n']) {
      await refuses(pax(body), 'invalid_argument', /PAX record/);
    }
    await refuses(tarArchive([{ name: 'x', pax: { path: 'a\0b' } }]), 'invalid_argument', /null byte/);
    await refuses(tarArchive([{ name: 'p', flag: 'x', size: 2 ** 32 }]), 'invalid_argument', /claims 4294967296 bytes/);
    await refuses(tarArchive([{ name: 'l', flag: 'L', size: 2 ** 21 }]), 'invalid_argument', /claims/);
  });

  test('with an unknown entry type', async () => {
    await refuses(tarArchive([{ name: 'x', flag: 'M' }]), 'unimplemented', /unknown type "M"/);
  });
});

/** A small pseudo-random number generator (mulberry32). The same seed yields the same archives. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

test('no corruption makes the reader hang, throw undocumented errors, or yield more bytes than the archive has', async () => {
  const good = tarArchive([
    { name: 'a', body: 'x'.repeat(700), pax: { 'SCHILY.xattr.user.x': 'y', mtime: '1.5' } },
    { name: '././@LongLink', flag: 'L', body: 'n'.repeat(200) },
    { name: 'n', flag: '5' },
    { name: 's', body: 'abc', pax: { 'GNU.sparse.map': '0,3', 'GNU.sparse.size': '10' } },
    { name: 'o', flag: 'S', body: '' },
    { name: 'd', flag: '3', device: [1, 2] },
  ]);
  for (let seed = 1; seed <= 1500; seed++) {
    const random = randomOf(seed);
    const archive = Buffer.from(good.subarray(0, random() < 0.2 ? Math.floor(random() * good.length) : good.length));
    for (let change = Math.floor(random() * 8); change > 0; change--) {
      archive[Math.floor(random() * archive.length)] = Math.floor(random() * 256);
    }
    // correct some checksums, because they would catch most damage before the later checks are exercised
    for (let at = 0; at + 512 <= archive.length; at += 512) {
      if (random() < 0.7 && archive[at] !== 0) withChecksum(archive.subarray(at, at + 512));
    }
    try {
      const read = await readAll(archive, 1 + Math.floor(random() * 2000));
      assert.ok(read.reduce((sum, { body }) => sum + body.length, 0) <= archive.length);
    } catch (error) {
      const known = ['invalid_argument', 'data_loss', 'unimplemented'];
      assert.ok(known.includes(errorCode(error)), `seed ${seed}: ${(error as Error).stack}`);
    }
  }
});
