import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCode } from '@podwright/base';
import { fuzz, pieces } from '../../../../base/src/fuzz.fixture.ts';
import { CLIENT_PREFACE, headersFrames, parseFrameHeader } from '../../http2/frames.ts';
import { HpackDecoder } from '../../http2/hpack-decoder.ts';
import { encodeLiterals } from '../../http2/hpack-encoder.ts';
import type { HeaderField } from '../../http2/static-table.ts';
import { AuthorityRewriter } from './authority-rewriter.ts';

const SETTINGS = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
const SETTINGS_ACK = Buffer.from([0, 0, 0, 4, 1, 0, 0, 0, 0]);
const DATA = Buffer.concat([Buffer.from([0, 0, 5, 0, 1, 0, 0, 0, 1]), Buffer.from('hello')]);
const LIMITS = { tableBytes: 4096, listBytes: 65_536 };
const GOOD_CODES = ['invalid_argument', 'resource_exhausted'];

const request = (authority: string): HeaderField[] => [
  [':method', 'POST'],
  [':scheme', 'http'],
  [':path', '/runtime.v1.RuntimeService/Version'],
  [':authority', authority],
  ['content-type', 'application/grpc'],
];
/** Indexed fields, a literal that is remembered, a Huffman string, a change of the table's size. */
const compressed = Buffer.from(
  '3fe11f838644410c2f72756e2f6372692e736f636b5f0a6170706c69636174696f6e7a04a8eb1063',
  'hex',
);

const conversation = (...blocks: Buffer[]) =>
  Buffer.concat([
    CLIENT_PREFACE,
    SETTINGS,
    SETTINGS_ACK,
    ...blocks.flatMap((block, index) => [headersFrames(block, { streamId: 2 * index + 1, endStream: false }), DATA]),
  ]);

const samples = [
  conversation(encodeLiterals(request('/run/x.sock')), encodeLiterals(request('localhost'))),
  conversation(encodeLiterals(request('')), compressed, compressed),
  conversation(compressed, encodeLiterals([['x-checksum', '1']])),
];

/** What goes on to the server, or the code of the error that ends the connection. */
function rewritten(chunks: Iterable<Buffer>): Buffer | string {
  const rewriter = new AuthorityRewriter();
  const output: Buffer[] = [];
  try {
    for (const chunk of chunks) output.push(...rewriter.push(chunk));
  } catch (error) {
    return errorCode(error);
  }
  return Buffer.concat(output);
}

test('whatever a client sends is rewritten the same however it is cut, or ends the connection', async () => {
  await fuzz({ samples, rounds: 3000 }, (input, random) => {
    const whole = rewritten([input]);
    const cut = rewritten(pieces(random, input));
    assert.deepEqual(cut, whole);
    if (typeof whole === 'string') assert.ok(GOOD_CODES.includes(whole), whole);
    else assert.ok(whole.length <= 8 * input.length + LIMITS.listBytes, `${input.length} bytes became ${whole.length}`);
  });
});

test('header blocks that are rewritten can be read again and say the same', async () => {
  await fuzz({ samples: [compressed, encodeLiterals(request('/x'))], rounds: 3000 }, (input) => {
    let fields: HeaderField[];
    try {
      fields = new HpackDecoder(LIMITS).decode(input);
    } catch (error) {
      assert.ok(GOOD_CODES.includes(errorCode(error)), String(error));
      return;
    }
    assert.deepEqual(new HpackDecoder(LIMITS).decode(encodeLiterals(fields)), fields);
    const frames = headersFrames(encodeLiterals(fields), { streamId: 1, endStream: true });
    assert.equal(parseFrameHeader(frames).streamId, 1);
  });
});
