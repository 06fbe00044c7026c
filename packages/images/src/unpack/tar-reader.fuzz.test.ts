import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCode } from '@podwright/base';
import { fuzz, pieces, type Random } from '../../../base/src/fuzz.fixture.ts';
import { readTar } from './tar-reader.ts';
import { tarArchive, withChecksum } from './tar-writer.fixture.ts';

const samples = [
  tarArchive([
    { name: 'dir/', flag: '5', mode: 0o755 },
    { name: 'dir/file', body: 'x'.repeat(700), uid: 7, gid: 8, mtime: 1_600_000_000 },
    { name: 'dir/link', flag: '2', link: 'file' },
    { name: 'dir/node', flag: '3', device: [1, 3] },
  ]),
  tarArchive([
    { name: 'long', pax: { path: 'd/'.repeat(100), 'SCHILY.xattr.user.x': Buffer.from([0, 1, 255]), mtime: '1.5' } },
    { name: '././@LongLink', flag: 'L', body: 'n'.repeat(300) },
    { name: 'n', body: 'y' },
  ]),
  tarArchive([
    {
      name: 'sparse',
      pax: { 'GNU.sparse.major': '1', 'GNU.sparse.minor': '0', 'GNU.sparse.realsize': '100000' },
      body: `${'2\n0\n4\n5000\n4\n'.padEnd(512, '\0')}abcdefgh`,
    },
    { name: 'global', flag: 'g', body: '15 uid=1000000\n' },
  ]),
];

async function* stream(random: Random, bytes: Buffer): AsyncGenerator<Buffer> {
  yield* pieces(random, bytes, 2000);
}

/**
 * Recomputes the header checksums of a damaged archive. Otherwise, the reader would reject most damage because of the checksum, and later
 * checks would not be exercised.
 */
function withValidChecksums(archive: Buffer): Buffer {
  const copy = Buffer.from(archive);
  for (let at = 0; at + 512 <= copy.length; at += 512) {
    const block = copy.subarray(at, at + 512);
    if (block.toString('latin1', 257, 262) === 'ustar') withChecksum(block);
  }
  return copy;
}

async function readAll(archive: AsyncIterable<Buffer>): Promise<{ entries: number; bytes: number }> {
  const read = { entries: 0, bytes: 0 };
  for await (const { header, body } of readTar(archive)) {
    read.entries++;
    assert.ok(header.size >= 0 && Number.isSafeInteger(header.size), `size ${header.size}`);
    assert.ok(!header.nameBytes.includes(0) && !header.linkBytes.includes(0));
    for await (const piece of body) read.bytes += piece.length;
  }
  return read;
}

test('any archive is refused, or yields no more data than its own length', async () => {
  await fuzz({ samples, rounds: 2000 }, async (input, random) => {
    const archive = random(2) === 0 ? input : withValidChecksums(input);
    try {
      const { entries, bytes } = await readAll(stream(random, archive));
      assert.ok(entries * 512 + bytes <= archive.length, `${entries} entries and ${bytes} bytes of ${archive.length}`);
    } catch (error) {
      assert.match(errorCode(error), /^(invalid_argument|data_loss|unimplemented)$/, String(error));
    }
  });
});
