import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCode, PodwrightError } from '@podwright/base';
import { CLIENT_PREFACE, headersFrames, parseFrameHeader } from '../../http2/frames.ts';
import { HpackDecoder } from '../../http2/hpack-decoder.ts';
import { encodeLiterals } from '../../http2/hpack-encoder.ts';
import type { HeaderField } from '../../http2/static-table.ts';
import { AuthorityRewriter } from './authority-rewriter.ts';

const SETTINGS = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
const SETTINGS_ACK = Buffer.from([0, 0, 0, 4, 1, 0, 0, 0, 0]);

function frame(type: number, flags: number, streamId: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(9);
  header.writeUIntBE(payload.length, 0, 3);
  header.set([type, flags], 3);
  header.writeUInt32BE(streamId, 5);
  return Buffer.concat([header, payload]);
}

const request = (...authority: HeaderField[]): HeaderField[] => [
  [':method', 'POST'],
  [':scheme', 'http'],
  [':path', '/runtime.v1.RuntimeService/Version'],
  ...authority,
  ['content-type', 'application/grpc'],
];

const headers = (fields: readonly HeaderField[], streamId = 1) =>
  headersFrames(encodeLiterals(fields), { streamId, endStream: false });
const opening = Buffer.concat([CLIENT_PREFACE, SETTINGS]);

/** What comes out for the given chunks, as one. */
function through(rewriter: AuthorityRewriter, ...chunks: Buffer[]): Buffer {
  return Buffer.concat(chunks.flatMap((chunk) => rewriter.push(chunk)));
}

/** The fields of the first header block, in literals, that follows the opening. */
function firstFields(output: Buffer): HeaderField[] {
  const rest = output.subarray(opening.length);
  const { length } = parseFrameHeader(rest);
  return new HpackDecoder({ tableBytes: 4096, listBytes: 1 << 20 }).decode(rest.subarray(9, 9 + length));
}

for (const valid of ['localhost', 'localhost:0', '.', '%2Frun%2Fcri%2Fx.sock', '[::1]:80']) {
  test(`a connection whose first authority is ${valid} passes unread`, () => {
    const first = headers(request([':authority', valid]));
    const garbage = Buffer.from('anything at all, even if it is no frame');
    const rewriter = new AuthorityRewriter();
    const output = through(rewriter, opening, SETTINGS_ACK, first, garbage);
    assert.deepEqual(output, Buffer.concat([opening, first, garbage]));
    assert.ok(rewriter.passing && !rewriter.rewriting);
  });
}

test('one answer to settings is taken out, before the first request or after it; the next ones are the server’s', () => {
  const first = headers(request([':authority', 'localhost']));
  const rewriter = new AuthorityRewriter();
  assert.deepEqual(through(rewriter, opening, first), Buffer.concat([opening, first]));
  assert.ok(!rewriter.passing);
  assert.deepEqual(through(rewriter, SETTINGS_ACK, SETTINGS_ACK), SETTINGS_ACK);
  assert.ok(rewriter.passing);
});

test('a client that has not answered the settings yet is still followed', () => {
  const rewriter = new AuthorityRewriter();
  through(rewriter, opening, headers(request([':authority', 'localhost'])), headers(request([':authority', '']), 3));
  assert.ok(rewriter.rewriting);
  assert.equal(through(rewriter, SETTINGS_ACK).length, 0);
  assert.ok(!rewriter.passing);
});

for (const invalid of ['', '/run/cri/x.sock', 'run/x.sock', 'unix:///run/x.sock', 'a b', 'caf\xe9']) {
  test(`the authority ${JSON.stringify(invalid)} becomes localhost`, () => {
    const output = through(new AuthorityRewriter(), opening, headers(request([':authority', invalid])));
    assert.deepEqual(firstFields(output), [[':authority', 'localhost'], ...request()]);
  });
}

test('a request without authority gets one, unless it names a host', () => {
  assert.deepEqual(firstFields(through(new AuthorityRewriter(), opening, headers(request())))[0], [
    ':authority',
    'localhost',
  ]);
  const withHost = Buffer.concat([opening, headers([...request(), ['host', 'node']])]);
  assert.deepEqual(through(new AuthorityRewriter(), withHost), withHost);
});

test('a host that is not valid goes with the authority', () => {
  const output = through(new AuthorityRewriter(), opening, headers([...request(), ['host', '/run/x.sock']]));
  assert.deepEqual(firstFields(output), [[':authority', 'localhost'], ...request()]);
});

test('what is not headers passes as it is, and trailers get no authority', () => {
  const rewriter = new AuthorityRewriter();
  through(rewriter, opening, headers(request([':authority', '/x'])));
  const data = frame(0, 0, 1, Buffer.from('a message'));
  const ping = frame(6, 0, 0, Buffer.alloc(8));
  assert.deepEqual(through(rewriter, data, ping), Buffer.concat([data, ping]));
  const trailers: HeaderField[] = [['x-checksum', '1']];
  const sent = headersFrames(encodeLiterals(trailers), { streamId: 1, endStream: true });
  assert.deepEqual(through(rewriter, sent), sent);
});

test('later requests are rewritten with the table that the earlier ones built', () => {
  const rewriter = new AuthorityRewriter();
  const remembered = Buffer.concat([Buffer.from([0x41, 2]), Buffer.from('/x')]); // index 1 is `:authority`
  const first = Buffer.concat([Buffer.from([0x83, 0x86, 0x84]), remembered]);
  through(rewriter, opening, frame(1, 4, 1, first));
  const output = through(rewriter, frame(1, 4, 3, Buffer.from([0x83, 0x86, 0x84, 0xbe])));
  const decoded = new HpackDecoder({ tableBytes: 0, listBytes: 1000 }).decode(output.subarray(9));
  assert.deepEqual(decoded[0], [':authority', 'localhost']);
  assert.equal(decoded.length, 4);
});

test('padding, priority and continuations are taken apart and the stream’s end is kept', () => {
  const block = encodeLiterals(request([':authority', '/x']));
  const padded = Buffer.concat([Buffer.from([3]), Buffer.alloc(5), block.subarray(0, 20), Buffer.alloc(3)]);
  const rest = [frame(9, 0, 1, Buffer.alloc(0)), frame(9, 4, 1, block.subarray(20))];
  const output = through(new AuthorityRewriter(), opening, frame(1, 0x8 | 0x20 | 0x1, 1, padded), ...rest);
  assert.deepEqual(firstFields(output)[0], [':authority', 'localhost']);
  assert.equal(output[opening.length + 4], 0x1 | 0x4);
});

test('a block that grows beyond a frame is continued', () => {
  const fields = [...request([':authority', '/x']), ...[1, 2].map((n): HeaderField => [`x-${n}`, 'y'.repeat(16_000)])];
  const output = through(new AuthorityRewriter(), opening, headers(fields)).subarray(opening.length);
  const first = parseFrameHeader(output);
  assert.deepEqual(first, { length: 16_384, type: 1, flags: 0, streamId: 1 });
  const second = parseFrameHeader(output.subarray(9 + first.length));
  assert.deepEqual({ ...second, length: 0 }, { length: 0, type: 9, flags: 4, streamId: 1 });
});

test('it does not matter how the bytes are cut into chunks', () => {
  const whole = Buffer.concat([
    opening,
    headers(request([':authority', '/x'])),
    frame(0, 1, 1, Buffer.alloc(300, 'd')),
    headers(request([':authority', '']), 3),
    frame(0, 1, 3, Buffer.alloc(0)),
  ]);
  const expected = through(new AuthorityRewriter(), whole);
  for (const size of [1, 2, 7, 9, 10, 100]) {
    const chunks = Array.from({ length: Math.ceil(whole.length / size) }, (_, index) =>
      whole.subarray(index * size, (index + 1) * size),
    );
    assert.deepEqual(through(new AuthorityRewriter(), ...chunks), expected, `chunks of ${size}`);
  }
});

const hostile: Record<string, Buffer[]> = {
  'HTTP/1.1': [Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')],
  'a frame above the limit': [opening, Buffer.from([1, 0, 0, 0, 0, 0, 0, 0, 1])],
  'a continuation without headers': [opening, frame(9, 4, 1, Buffer.alloc(0))],
  'a header block torn apart by data': [opening, frame(1, 0, 1, Buffer.alloc(0)), frame(0, 0, 1, Buffer.alloc(0))],
  'a continuation of another stream': [opening, frame(1, 0, 1, Buffer.alloc(0)), frame(9, 4, 3, Buffer.alloc(0))],
  'padding longer than its frame': [opening, frame(1, 0xc, 1, Buffer.from([9, 0x82]))],
  'a priority that is cut': [opening, frame(1, 0x24, 1, Buffer.from([0, 0]))],
  'a flood of empty continuations': [
    opening,
    frame(1, 0, 1, Buffer.alloc(0)),
    ...Array(20).fill(frame(9, 0, 1, Buffer.alloc(0))),
  ],
  'a flood of full continuations': [
    opening,
    frame(1, 0, 1, Buffer.alloc(16_384)),
    ...Array(8).fill(frame(9, 0, 1, Buffer.alloc(16_384))),
  ],
  'a header list that expands': [
    opening,
    frame(
      1,
      4,
      1,
      Buffer.concat([
        Buffer.from([0x40, 1, 0x61, 0x7f, 0x81, 0x1e]),
        Buffer.alloc(4000, 'x'),
        Buffer.alloc(9000, 0xbe),
      ]),
    ),
  ],
  'a wrong Huffman code': [opening, frame(1, 4, 1, Buffer.from([0x41, 0x84, 0xff, 0xff, 0xff, 0xff]))],
  'a table size above the limit': [opening, frame(1, 4, 1, Buffer.from([0x3f, 0xe2, 0x1f]))],
};

for (const [what, chunks] of Object.entries(hostile)) {
  test(`${what} is refused`, () => {
    assert.throws(
      () => through(new AuthorityRewriter(), ...chunks),
      (error) => error instanceof PodwrightError && /^(invalid_argument|resource_exhausted)$/.test(errorCode(error)),
    );
  });
}

test('random frames and mutated requests end in an error or in frames, always within the limits', () => {
  const random = seededRandom(20_261_121);
  const seed = Buffer.concat([
    opening,
    headers(request([':authority', '/run/x.sock'])),
    frame(0, 1, 1, Buffer.alloc(40)),
    headers(request([':authority', '/run/x.sock']), 3),
  ]);
  let refused = 0;
  for (let round = 0; round < 3000; round++) {
    const bytes = Buffer.from(seed);
    for (let flips = 1 + Math.floor(random() * 6); flips > 0; flips--) {
      bytes[CLIENT_PREFACE.length + Math.floor(random() * (bytes.length - CLIENT_PREFACE.length))] = random() * 256;
    }
    const cut = Math.floor(random() * bytes.length);
    const rewriter = new AuthorityRewriter();
    try {
      const output = through(rewriter, bytes.subarray(0, cut), bytes.subarray(cut));
      assert.ok(output.length <= bytes.length + 1000, `round ${round}`);
    } catch (error) {
      refused++;
      assert.ok(error instanceof PodwrightError, `round ${round}: ${error}`);
    }
  }
  assert.ok(refused > 100, 'the mutations reach the checks');
});

test('random header blocks are decoded or refused, always within the limits', () => {
  const random = seededRandom(7541);
  const limits = { tableBytes: 256, listBytes: 2048 };
  let decoder = new HpackDecoder(limits);
  for (let round = 0; round < 20_000; round++) {
    const block = Buffer.from(Array.from({ length: random() * 60 }, () => random() * 256));
    try {
      const bytes = decoder.decode(block).reduce((sum, [name, value]) => sum + name.length + value.length, 0);
      assert.ok(bytes <= limits.listBytes);
    } catch (error) {
      assert.ok(error instanceof PodwrightError, `round ${round}: ${error}`);
      decoder = new HpackDecoder(limits);
    }
  }
});

/** Numbers in [0, 1) that are the same in every run (mulberry32). */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
