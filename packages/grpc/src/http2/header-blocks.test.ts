import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCode } from '@podwright/base';
import { fuzz, pieces } from '../../../base/src/fuzz.fixture.ts';
import { FrameReader } from './frame-reader.ts';
import { FLAG, FRAME_TYPE, frame, headersFrames } from './frames.ts';
import { HeaderBlocks } from './header-blocks.ts';
import { encodeLiterals } from './hpack-encoder.ts';

/** Returns the decoded headers and the other frames in a peer's bytes, or the code of the error that ends the connection. */
function seen(chunks: Iterable<Buffer>): unknown[] | string {
  const blocks = new HeaderBlocks(1 << 20);
  const all: unknown[] = [];
  const reader = new FrameReader((header, payload) =>
    all.push(blocks.take(header, payload) ?? [header, payload.toString('latin1')]),
  );
  try {
    for (const chunk of chunks) reader.push(chunk);
  } catch (error) {
    return errorCode(error);
  }
  return all;
}

test('a peer’s bytes are decoded identically however chunked, or end the connection', async () => {
  const block = encodeLiterals([
    [':status', '200'],
    ...Array.from({ length: 9 }, () => ['x-long', 'x'.repeat(6000)] as const),
  ]);
  const samples = [
    Buffer.concat([
      frame({ type: FRAME_TYPE.settings }),
      headersFrames(block, { streamId: 1, endStream: false }),
      frame({ type: FRAME_TYPE.data, flags: FLAG.padded, streamId: 1 }, Buffer.from([1, 2, 3, 0])),
      headersFrames(encodeLiterals([['grpc-status', '0']]), { streamId: 1, endStream: true }),
    ]),
  ];
  const whole = seen(samples);
  assert.ok(typeof whole !== 'string');
  assert.deepEqual(
    whole.flatMap((one) => (one as { fields?: unknown[] }).fields?.length ?? []),
    [10, 1],
  );
  await fuzz({ samples, rounds: 2000 }, (input, random) => {
    const uncut = seen([input]);
    assert.deepEqual(seen(pieces(random, input, 9000)), uncut);
    if (typeof uncut === 'string') assert.ok(['invalid_argument', 'resource_exhausted'].includes(uncut), uncut);
  });
});
