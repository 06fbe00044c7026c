import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { constants, gzipSync, zstdCompressSync } from 'node:zlib';
import { detectCompression, readUncompressed } from './decompress.ts';
import { splitFrames } from './zstd-frames.ts';

/** Writes a blob to a file, and returns its decompressed content and the number of bytes read from the file. */
async function unpack(blob: Buffer): Promise<{ content: Buffer; read: number }> {
  const directory = mkdtempSync(join(tmpdir(), 'podwright-decompress-'));
  try {
    writeFileSync(join(directory, 'blob'), blob);
    const pieces: Buffer[] = [];
    let read = 0;
    for await (const piece of readUncompressed(join(directory, 'blob'), {
      onRead: (bytes) => {
        read += bytes;
      },
    })) {
      pieces.push(piece);
    }
    return { content: Buffer.concat(pieces), read };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const content = Buffer.concat([randomBytes(200_000), Buffer.alloc(300_000), Buffer.from('text '.repeat(50_000))]);
const checked = { params: { [constants.ZSTD_c_checksumFlag]: 1 } };
const compressors: Record<string, (bytes: Buffer) => Buffer> = {
  none: (bytes) => bytes,
  gzip: gzipSync,
  zstd: zstdCompressSync,
  'zstd with checksums': (bytes) => zstdCompressSync(bytes, checked),
};

for (const [name, compress] of Object.entries(compressors)) {
  test(`${name} is decompressed completely, whether it is one stream or several concatenated ones`, async () => {
    const blob = compress(content);
    assert.deepEqual(await unpack(blob), { content, read: blob.length });
    const cuts = [0, 1, 1000, 1001, 150_000, 400_000, content.length];
    const many = cuts.slice(1).map((end, index) => compress(content.subarray(cuts[index], end)));
    assert.ok((await unpack(Buffer.concat(many))).content.equals(content));
  });
}

test('a zstd stream with thousands of frames is decompressed', async () => {
  const frames = Array.from({ length: 3000 }, (_, index) => zstdCompressSync(Buffer.from(`frame ${index} `)));
  const { content: joined } = await unpack(Buffer.concat(frames));
  assert.equal(joined.toString(), Array.from({ length: 3000 }, (_, index) => `frame ${index} `).join(''));
});

test('every frame ends at a chunk boundary, however the stream is chunked', async () => {
  const skippable = Buffer.from('5f2a4d1803000000aabbcc', 'hex');
  const frames = [
    zstdCompressSync(content.subarray(0, 20_000)),
    skippable,
    zstdCompressSync(Buffer.alloc(0)),
    zstdCompressSync(content.subarray(190_000, 210_000), checked),
  ];
  const stream = Buffer.concat(frames);
  const ends = frames.map((_, index) => Buffer.concat(frames.slice(0, index + 1)).length);
  for (const size of [1, 3, 1000, 131_072, stream.length]) {
    const found = new Set<number>();
    const pieces: Buffer[] = [];
    let at = 0;
    for await (const piece of splitFrames(inChunks(stream, size))) {
      at += piece.length;
      found.add(at);
      pieces.push(piece);
    }
    assert.ok(Buffer.concat(pieces).equals(stream));
    for (const end of ends) assert.ok(found.has(end), `chunks of ${size}: nothing ends at ${end}`);
  }
});

async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

test('an empty blob has empty content', async () => {
  assert.equal((await unpack(Buffer.alloc(0))).content.length, 0);
});

test('the compression is detected from the first bytes', () => {
  const check = (hex: string, expected: string) =>
    assert.equal(detectCompression(Buffer.from(hex, 'hex')), expected, hex);
  check('', 'none');
  check('1f', 'none');
  check('1f8b0800', 'gzip');
  check('28b52ffd00', 'zstd');
  check('532a4d18', 'zstd');
  check('2e2f00000000', 'none');
  for (const hex of ['425a6839', 'fd377a585a00', '04224d18', '504b0304']) {
    assert.throws(() => detectCompression(Buffer.from(hex, 'hex')), { code: 'unimplemented' });
  }
});
