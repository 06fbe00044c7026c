import assert from 'node:assert/strict';
import { test } from 'node:test';
import { constants, deflateSync, inflateRawSync, inflateSync } from 'node:zlib';
import { errorCode } from '@podwright/base';
import { Deflate, Z_SYNC_FLUSH } from 'pako';
import { randomBytes, seededRandom } from '../random.fixture.ts';
import { spdyDictionary } from './dictionary.ts';
import { HeaderCodec, type SpdyHeaders } from './header-block.ts';

const packed = (block: Buffer) => deflateSync(block, { dictionary: spdyDictionary() });

/**
 * Decompresses a header block produced by this encoder. `first` must be set for the first block of a connection, which starts with the zlib
 * header.
 */
function unzipped(block: Buffer, first: boolean): Buffer {
  return inflateRawSync(first ? block.subarray(6) : block, { finishFlush: constants.Z_SYNC_FLUSH });
}

function text(value: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(value.length);
  return Buffer.concat([length, Buffer.from(value)]);
}

function refused(block: Buffer): string {
  try {
    return JSON.stringify(new HeaderCodec().decode(packed(block)));
  } catch (error) {
    return errorCode(error);
  }
}

test('blocks on one connection are decompressed in order, with earlier ones as the dictionary', () => {
  const [here, there] = [new HeaderCodec(), new HeaderCodec()];
  const blocks: SpdyHeaders[] = [
    { streamtype: 'error', port: '80' },
    {},
    { streamtype: 'data', port: '80', name: 'grüße' },
  ];
  for (const headers of blocks) assert.deepEqual(there.decode(here.encode(headers)), headers);

  const packer = new Deflate({ dictionary: spdyDictionary() });
  let packed: Uint8Array[] = [];
  packer.onData = (chunk) => packed.push(chunk);
  const [plain, unpacker] = [new HeaderCodec(), new HeaderCodec()];
  const lengths = blocks.map((headers) => {
    packed = [];
    packer.push(unzipped(plain.encode(headers), headers === blocks[0]), Z_SYNC_FLUSH);
    assert.deepEqual(unpacker.decode(Buffer.concat(packed)), headers);
    return Buffer.concat(packed).length;
  });
  assert.ok(lengths[2]! < lengths[0]! + 30);
});

test('encoded blocks of any length can be decoded by other zlib implementations', () => {
  const value = 'x'.repeat(200_000);
  const block = new HeaderCodec().encode({ name: value });
  const options = { dictionary: spdyDictionary(), finishFlush: constants.Z_SYNC_FLUSH };
  assert.ok(inflateSync(block, options).toString('utf8').endsWith(value));
});

test('blocks with wrong lengths are rejected', () => {
  const count = (value: number) => Buffer.from([0, 0, value >> 8, value & 255]);
  assert.equal(refused(Buffer.alloc(0)), 'invalid_argument');
  assert.equal(refused(count(1)), 'invalid_argument');
  assert.equal(refused(Buffer.concat([count(2), text('a'), text('b')])), 'invalid_argument');
  assert.equal(refused(Buffer.concat([count(1), Buffer.from('ffffffff', 'hex')])), 'invalid_argument');
  assert.equal(refused(count(300)), 'resource_exhausted');
  assert.equal(refused(Buffer.concat([count(1), text('A'), text('b')])), '{"a":"b"}');
});

test('a block that decompresses to too much data is rejected during decompression', () => {
  assert.equal(refused(Buffer.alloc(50 << 20)), 'resource_exhausted');
});

test('any bytes are decompressed or rejected', () => {
  const random = seededRandom(32);
  for (let round = 0; round < 300; round++) {
    const valid = new HeaderCodec().encode({ streamtype: 'stdin', port: String(random(70_000)) });
    const bytes = round % 3 === 0 ? randomBytes(random, random(60)) : valid;
    if (round % 3 === 1) bytes[random(bytes.length)]! ^= 1 << random(8);
    const block = round % 3 === 2 ? bytes.subarray(0, random(bytes.length)) : bytes;
    try {
      new HeaderCodec().decode(block);
    } catch (error) {
      assert.match(errorCode(error), /invalid_argument|resource_exhausted/);
    }
  }
});
