import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCode } from '@podwright/base';
import { randomBytes, randomPieces, seededRandom } from '../random.fixture.ts';
import { encodeControl, encodeDataHead, type Frame, FrameParser, FrameType, uint32 } from './frames.ts';

const control = encodeControl(FrameType.ping, 0, uint32(7));
const data = Buffer.concat([encodeDataHead(5, { fin: true, length: 4 }), Buffer.from('abcd')]);

/** Parses the pieces and formats the frames as text, joining the pieces of each data frame. */
function parse(pieces: Iterable<Buffer>): string[] {
  const parser = new FrameParser();
  const seen: string[] = [];
  let pending = '';
  for (const piece of pieces) {
    for (const frame of parser.push(piece)) {
      if (frame.kind === 'control') seen.push(`control ${frame.type} ${frame.payload.toString('hex')}`);
      else {
        pending += frame.payload.toString('latin1');
        if (frame.fin) seen.push(`data ${frame.streamId} ${pending}`);
        if (frame.fin) pending = '';
      }
    }
  }
  return seen;
}

test('frames are parsed the same however the bytes are chunked', () => {
  const bytes = Buffer.concat([control, data, control, encodeDataHead(3, { fin: true, length: 0 })]);
  const whole = ['control 6 00000007', 'data 5 abcd', 'control 6 00000007', 'data 3 '];
  for (let size = 1; size <= bytes.length; size++) {
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
      bytes.subarray(i * size, (i + 1) * size),
    );
    assert.deepEqual(parse(pieces), whole, `pieces of ${size}`);
  }
});

test('a large data frame is delivered as it arrives and is never buffered', () => {
  const parser = new FrameParser();
  assert.deepEqual([...parser.push(encodeDataHead(1, { fin: true, length: 0xff_ffff }))], []);
  const pieces: Frame[] = [];
  for (let left = 0xff_ffff; left > 0; left -= 65_536) {
    const piece = Buffer.alloc(Math.min(65_536, left));
    const frames = [...parser.push(piece)];
    assert.equal(frames.length, 1);
    pieces.push(...frames);
  }
  assert.deepEqual(
    pieces.map((piece) => piece.kind === 'data' && piece.fin),
    [...Array(255).fill(false), true],
  );
});

function refused(bytes: Buffer): string {
  try {
    return parse([bytes]).join();
  } catch (error) {
    return errorCode(error);
  }
}

test('bytes that are not SPDY/3 and oversized control frames are rejected based on their headers', () => {
  assert.equal(refused(Buffer.from('8002000600000004', 'hex')), 'invalid_argument');
  assert.equal(refused(Buffer.from('800300010000ffff', 'hex')), 'resource_exhausted');
  assert.equal(refused(Buffer.from('8003000100ffffff', 'hex')), 'resource_exhausted');
  assert.equal(refused(Buffer.from('HTTP/1.1 400 Bad Request\r\n')), '', 'bytes like these are a long data frame');
});

test('any bytes are parsed or rejected', () => {
  const random = seededRandom(31);
  for (let round = 0; round < 500; round++) {
    const bytes = randomBytes(random, random(200));
    if (round % 2 === 0) bytes.set([0x80, 0x03, 0, random(12), 0, 0, 0, random(40)].slice(0, bytes.length));
    try {
      parse(randomPieces(random, bytes));
    } catch (error) {
      assert.match(errorCode(error), /invalid_argument|resource_exhausted/);
    }
  }
});
