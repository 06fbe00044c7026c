import assert from 'node:assert/strict';
import { Duplex } from 'node:stream';
import { test } from 'node:test';
import { errorMessage } from '@podwright/base';
import { fuzz, pieces } from '../../../base/src/fuzz.fixture.ts';
import { FrameReader } from '../http2/frame-reader.ts';
import { CLIENT_PREFACE, FLAG, FRAME_TYPE, frame, headersFrames, numberFrame } from '../http2/frames.ts';
import { encodeLiterals } from '../http2/hpack-encoder.ts';
import type { Http2Stream } from '../http2/http2-stream.ts';
import { callFrames, requestHeaders, SETTINGS } from './bare-client.fixture.ts';
import { ServerSession } from './session.ts';

/** An HPACK header block with indexed fields, a literal with incremental indexing, a Huffman string and a table size update. */
const compressed = Buffer.from(
  '3fe11f8386440d2f72756e2f6372692e736f636b5f106170706c69636174696f6e2f677270637a86a8eb10649cbf',
  'hex',
);
const long = encodeLiterals([...requestHeaders('Echo'), ['x', 'y'.repeat(20_000)]]);

const conversation = (...frames: Buffer[]) => Buffer.concat([CLIENT_PREFACE, SETTINGS, ...frames]);
const samples = [
  conversation(
    callFrames(1, requestHeaders('Echo', [':authority', '/run/x.sock']), Buffer.from('message')),
    frame({ type: FRAME_TYPE.ping }, Buffer.alloc(8)),
    callFrames(3, requestHeaders('Echo'), Buffer.alloc(0)),
    numberFrame({ type: FRAME_TYPE.resetStream, streamId: 3 }, 8),
  ),
  conversation(
    headersFrames(compressed, { streamId: 1, endStream: true }),
    headersFrames(compressed, { streamId: 3, endStream: false }),
    frame({ type: FRAME_TYPE.data, flags: FLAG.padded, streamId: 3 }, Buffer.from([1, 2, 3, 0])),
    headersFrames(encodeLiterals([['x-checksum', '1']]), { streamId: 3, endStream: true }),
  ),
  conversation(
    frame({ type: FRAME_TYPE.settings }, Buffer.from('000400000010', 'hex')),
    headersFrames(long, { streamId: 1, endStream: false }),
    numberFrame({ type: FRAME_TYPE.windowUpdate, streamId: 1 }, 100),
    numberFrame({ type: FRAME_TYPE.windowUpdate }, 100),
    frame({ type: FRAME_TYPE.goAway }, Buffer.alloc(8)),
  ),
];

/** Feeds a client's bytes to a session. Returns the stream events, the frames sent in response, and why the connection ended. */
function made(chunks: Iterable<Buffer>): { events: string[]; answers: string[]; end: unknown } {
  const events: string[] = [];
  const answers: string[] = [];
  let end: unknown;
  const reader = new FrameReader((header, payload) =>
    answers.push(`${JSON.stringify(header)} ${payload.toString('latin1')}`),
  );
  const write = (chunk: Buffer, _encoding: string, done: () => void) => {
    reader.push(chunk);
    done();
  };
  const socket = new Duplex({ read: () => undefined, write });
  const session = new ServerSession(socket, {
    onRequest: (stream, fields) => {
      const record = (...what: unknown[]) => events.push(JSON.stringify([(stream as Http2Stream).id, ...what]));
      record('begins', fields);
      stream.listener = {
        onData: (bytes) => {
          stream.take(bytes.length);
          record('data', bytes.toString('latin1'));
        },
        onEnd: () => {
          record('end');
          stream.send({ head: Buffer.of(0x88), data: Buffer.alloc(30), trailers: Buffer.of(0x88) });
        },
        onClose: () => record('closed'),
      };
    },
    onClose: (error) => {
      end = error;
    },
  });
  for (const chunk of chunks) socket.emit('data', chunk);
  session.destroy();
  return { events, answers: answers.sort(), end: end && errorMessage(end) };
}

test('a client’s bytes have the same effect however chunked, or end the connection', async () => {
  for (const sample of samples) assert.equal(made([sample]).end, undefined);
  await fuzz({ samples, rounds: 5000 }, (input, random) => {
    const whole = made([input]);
    assert.deepEqual(made(pieces(random, input)), whole);
    assert.ok(whole.end === undefined || /^(HTTP\/2|hpack): /.test(String(whole.end)), String(whole.end));
  });
});
