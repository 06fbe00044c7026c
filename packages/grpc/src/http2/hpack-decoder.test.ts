import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:http2';
import { Duplex } from 'node:stream';
import { test } from 'node:test';
import { errorCode } from '@podwright/base';
import { fuzz } from '../../../base/src/fuzz.fixture.ts';
import { CLIENT_PREFACE, FRAME_TYPE, parseFrameHeader, unpadded } from './frames.ts';
import { HpackDecoder } from './hpack-decoder.ts';
import { encodeLiterals } from './hpack-encoder.ts';
import { decodeHuffman } from './huffman.ts';
import type { HeaderField } from './static-table.ts';

const LIMITS = { tableBytes: 4096, listBytes: 65_536 };
const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');

const rejects = (block: Buffer, code: string, limits = LIMITS) =>
  assert.throws(
    () => new HpackDecoder(limits).decode(block),
    (error: unknown) => errorCode(error) === code,
  );

test('the examples of RFC 7541, C.3, are decoded with a growing table', () => {
  const decoder = new HpackDecoder(LIMITS);
  const common: HeaderField[] = [
    [':method', 'GET'],
    [':scheme', 'http'],
    [':path', '/'],
    [':authority', 'www.example.com'],
  ];
  assert.deepEqual(decoder.decode(hex('828684410f7777772e6578616d706c652e636f6d')), common);
  assert.deepEqual(decoder.decode(hex('828684be58086e6f2d6361636865')), [...common, ['cache-control', 'no-cache']]);
});

test('the examples of RFC 7541, C.4, are decoded from Huffman codes', () => {
  const decoder = new HpackDecoder(LIMITS);
  assert.equal(decoder.decode(hex('828684418cf1e3c2e5f23a6ba0ab90f4ff'))[3]?.[1], 'www.example.com');
  assert.deepEqual(decoder.decode(hex('828684be5886a8eb10649cbf')).at(-1), ['cache-control', 'no-cache']);
});

test('the example of RFC 7541, C.5, evicts entries that do not fit the table', () => {
  const decoder = new HpackDecoder({ ...LIMITS, tableBytes: 256 });
  decoder.decode(
    hex(
      '4803333032580770726976617465611d4d6f6e2c203231204f637420323031332032303a31333a323120474d54' +
        '6e1768747470733a2f2f7777772e6578616d706c652e636f6d',
    ),
  );
  // the second response reuses three fields, and its `:status` evicts the oldest one
  assert.deepEqual(
    decoder.decode(hex('4803333037c1c0bf')).map(([name]) => name),
    [':status', 'cache-control', 'date', 'location'],
  );
});

test('nghttp2’s output is decoded, with indexing, Huffman codes and repeated fields', async () => {
  const requests = Array.from({ length: 40 }, (_, index) => ({
    ':path': `/runtime.v1.RuntimeService/Method${index % 7}`,
    'user-agent': 'grpc-go/1.33.3',
    'x-number': String(index * 7919),
    [`x-name-${index % 5}`]: 'é~{}<>|'.repeat(index % 9),
    'grpc-timeout': `${index}m`,
  }));
  const decoder = new HpackDecoder(LIMITS);
  const blocks = await blocksSentBy(requests);
  assert.equal(blocks.length, requests.length);
  for (const [index, block] of blocks.entries()) {
    const decoded = Object.fromEntries(decoder.decode(block));
    for (const [name, value] of Object.entries(requests[index]!)) {
      assert.equal(decoded[name], Buffer.from(value, 'latin1').toString('latin1'), `${name} of request ${index}`);
    }
  }
});

test('encoded literals are decoded to the same fields', () => {
  const fields: HeaderField[] = [
    [':path', '/a'],
    ['empty', ''],
    ['long', 'x'.repeat(20_000)],
    ['bytes', '\x00\x7f\xff'],
  ];
  assert.deepEqual(new HpackDecoder(LIMITS).decode(encodeLiterals(fields)), fields);
});

test('strings of every length round-trip', () => {
  const fields: HeaderField[] = [0, 1, 126, 127, 128, 254, 255, 256, 16_510, 16_511].map((length) => [
    'a'.repeat(length),
    'b'.repeat(length),
  ]);
  for (const field of fields) assert.deepEqual(new HpackDecoder(LIMITS).decode(encodeLiterals([field])), [field]);
});

test('the shortest and the longest Huffman codes are those of RFC 7541', () => {
  assert.equal(decodeHuffman(hex('ffc7')).toString('latin1'), '\0');
  assert.equal(decodeHuffman(hex('07')).toString('latin1'), '0');
  assert.equal(decodeHuffman(hex('fffffbbf')).toString('latin1'), '\xff');
});

test('blocks that violate HPACK are rejected', () => {
  rejects(hex('80'), 'invalid_argument'); // index 0
  rejects(hex('be'), 'invalid_argument'); // an entry that the dynamic table does not have
  rejects(hex('ffffffffffffff7f'), 'invalid_argument'); // an integer without end
  rejects(hex('4105616263'), 'invalid_argument'); // a string that is cut
  rejects(hex('00'), 'invalid_argument'); // a field that is cut
  rejects(hex('3fe21f'), 'invalid_argument'); // a table larger than allowed: 4097
  rejects(hex('8220'), 'invalid_argument'); // a table size after a field
  rejects(hex('4184ffffffff'), 'invalid_argument'); // EOS in a Huffman string
  rejects(hex('418100'), 'invalid_argument'); // padding of zeros
  rejects(hex('4182 07ff'), 'invalid_argument'); // padding of a whole byte
});

test('a header list above its limit is rejected, however small its block', () => {
  const big = encodeLiterals([['a', 'x'.repeat(4000)]]);
  big[0] = 0x40; // index it, then refer to it many times with one byte each
  rejects(Buffer.concat([big, Buffer.alloc(1000, 0xbe)]), 'resource_exhausted');
});

test('a table of size 0 stores nothing', () => {
  rejects(Buffer.concat([hex('20'), hex('400161 0162'), hex('be')]), 'invalid_argument');
});

/** Returns the HPACK header blocks that node:http2's client sends for these requests. */
async function blocksSentBy(requests: Record<string, string>[]): Promise<Buffer[]> {
  let sent = Buffer.alloc(0);
  const pipe = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _encoding, done) => {
      sent = Buffer.concat([sent, chunk]);
      done();
    },
  });
  const session = connect('http://localhost', { createConnection: () => pipe });
  for (const headers of requests) session.request(headers, { endStream: true }).on('error', () => undefined);
  session.on('error', () => undefined);
  await once(session, 'connect');
  let blocks = blocksIn(sent);
  for (let turn = 0; blocks.length < requests.length && turn < 1000; turn++) {
    await new Promise(setImmediate);
    blocks = blocksIn(sent);
  }
  session.destroy();
  return blocks;
}

function blocksIn(bytes: Buffer): Buffer[] {
  const blocks: Buffer[] = [];
  for (let offset = CLIENT_PREFACE.length; offset + 9 <= bytes.length; ) {
    const frame = parseFrameHeader(bytes.subarray(offset));
    const payload = bytes.subarray(offset + 9, offset + 9 + frame.length);
    if (payload.length === frame.length && frame.type === FRAME_TYPE.headers) {
      blocks.push(unpadded(frame, payload)!);
    }
    offset += 9 + frame.length;
  }
  return blocks;
}

test('damaged header blocks are decoded or rejected within the limits, and decoded fields can be encoded again', async () => {
  const limits = { tableBytes: 256, listBytes: 2048 };
  // a header block with indexed fields, a literal with incremental indexing, a Huffman string and a table size update
  const compressed = hex(
    '3fe1018386 44 41 0c 2f72756e2f6372692e736f636b 5f 0a 6170706c69636174696f 6e 7a 04 a8eb1063 be',
  );
  const samples = [
    compressed,
    encodeLiterals([
      [':authority', '/x'],
      ['x', 'y'.repeat(1000)],
    ]),
  ];
  await fuzz({ samples, rounds: 5000 }, (input) => {
    let fields: HeaderField[];
    try {
      fields = new HpackDecoder(limits).decode(input);
    } catch (error) {
      assert.ok(['invalid_argument', 'resource_exhausted'].includes(errorCode(error)), String(error));
      return;
    }
    assert.ok(fields.reduce((sum, [name, value]) => sum + name.length + value.length, 0) <= limits.listBytes);
    assert.deepEqual(new HpackDecoder(limits).decode(encodeLiterals(fields)), fields);
  });
});
