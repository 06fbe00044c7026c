import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { encodeFrame, type Frame, FrameDecoder, frameType, MAX_FRAME_BYTES } from './frame.ts';
import { randomNumbers } from './random-numbers.fixture.ts';

const decode = (decoder: FrameDecoder, chunks: Buffer[]): Frame[] =>
  chunks.flatMap((chunk) => [...decoder.push(chunk)]);

function cut(bytes: Buffer, random: (below: number) => number): Buffer[] {
  const chunks: Buffer[] = [];
  for (let offset = 0; offset < bytes.length; ) {
    const size = 1 + random(random(4) === 0 ? 3 : 200);
    chunks.push(bytes.subarray(offset, offset + size));
    offset += size;
  }
  return chunks;
}

describe('ttrpc frames', () => {
  test('a frame has the documented layout', () => {
    const bytes = encodeFrame({ streamId: 3, type: frameType.request, flags: 1, data: Buffer.from('ab') });
    assert.equal(bytes.toString('hex'), '00000002' + '00000003' + '01' + '01' + '6162');
  });

  test('an empty frame is complete with its header', () => {
    const frame = { streamId: 1, type: frameType.response, flags: 0, data: Buffer.alloc(0) };
    assert.deepEqual(decode(new FrameDecoder(), [encodeFrame(frame)]), [frame]);
  });

  test('frames are decoded completely however their bytes are chunked', () => {
    const random = randomNumbers(1);
    for (let round = 0; round < 300; round++) {
      const frames = Array.from({ length: 1 + random(6) }, () => {
        const data = Buffer.alloc(random(500), random(256));
        return { streamId: random(2 ** 31), type: 1 + random(3), flags: random(256), data };
      });
      const decoder = new FrameDecoder();
      assert.deepEqual(decode(decoder, cut(Buffer.concat(frames.map(encodeFrame)), random)), frames);
      assert.equal(decoder.inFrame, false);
    }
  });

  test('data over the maximum is skipped, and the next frame is decoded', () => {
    const header = encodeFrame({ streamId: 5, type: frameType.request, flags: 0, data: Buffer.alloc(0) });
    header.writeUInt32BE(MAX_FRAME_BYTES + 1, 0);
    const next = encodeFrame({ streamId: 7, type: frameType.request, flags: 0, data: Buffer.from('x') });
    const decoder = new FrameDecoder();
    const frames = decode(decoder, [header, Buffer.alloc(MAX_FRAME_BYTES), Buffer.concat([Buffer.alloc(1), next])]);
    assert.deepEqual(
      frames.map(({ streamId, data }) => [streamId, data === undefined ? undefined : String(data)]),
      [
        [5, undefined],
        [7, 'x'],
      ],
    );
  });

  test('any bytes are decoded without an error and without buffering more than a frame', () => {
    const random = randomNumbers(2);
    for (let round = 0; round < 300; round++) {
      const bytes = Buffer.from(Array.from({ length: random(400) }, () => random(random(3) === 0 ? 256 : 4)));
      const decoder = new FrameDecoder();
      const frames = decode(decoder, cut(bytes, random));
      const size = frames.reduce((sum, { data }) => sum + 10 + (data?.length ?? 0), 0);
      assert.ok(size <= bytes.length || frames.some(({ data }) => data === undefined));
    }
  });

  test('a header that announces 4 GiB is neither an error nor a frame', () => {
    const decoder = new FrameDecoder();
    const header = Buffer.from('ffffffff' + '00000001' + '0100', 'hex');
    assert.deepEqual(decode(decoder, [header, ...Array.from({ length: 64 }, () => Buffer.alloc(1 << 20))]), []);
    assert.equal(decoder.inFrame, true);
  });
});
