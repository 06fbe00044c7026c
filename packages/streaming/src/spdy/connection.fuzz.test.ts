import assert from 'node:assert/strict';
import { duplexPair } from 'node:stream';
import { test } from 'node:test';
import { errorCode } from '@podwright/base';
import { fuzz, pieces } from '../../../base/src/fuzz.fixture.ts';
import { SpdyConnection } from './connection.ts';
import { encodeControl, encodeDataHead, FLAG_FIN, FrameParser, FrameType, uint32 } from './frames.ts';
import { HeaderCodec } from './header-block.ts';
import type { SpdyStream } from './stream.ts';

const data = (id: number, text: string, fin = false) =>
  Buffer.concat([encodeDataHead(id, { fin, length: Buffer.byteLength(text) }), Buffer.from(text)]);

/** Returns the bytes that a client sends during a command that uses several streams. */
function conversation(): Buffer {
  const codec = new HeaderCodec();
  const open = (id: number, streamtype: string, flags = 0) =>
    encodeControl(
      FrameType.synStream,
      flags,
      Buffer.concat([uint32(id, 0), Buffer.alloc(2), codec.encode({ streamtype })]),
    );
  return Buffer.concat([
    encodeControl(FrameType.settings, 0, uint32(1, 0x0400_0007, 65_536)),
    open(1, 'error', FLAG_FIN),
    open(3, 'stdin'),
    data(3, 'hello'),
    encodeControl(FrameType.ping, 0, uint32(1)),
    open(5, 'stdout'),
    data(3, 'more', true),
    data(99, 'for an unknown stream'),
    encodeControl(FrameType.headers, 0, Buffer.concat([uint32(3), codec.encode({ more: 'x' })])),
    encodeControl(FrameType.rstStream, 0, uint32(5, 5)),
    encodeControl(FrameType.goAway, 0, uint32(0, 0)),
  ]);
}

test('whatever a client sends, all streams end with the connection and no error is thrown', async () => {
  await fuzz({ samples: [conversation()], rounds: 1500 }, async (input, random) => {
    const [client, transport] = duplexPair();
    const streams: SpdyStream[] = [];
    const echo = (stream: SpdyStream) => {
      if (stream.headers.streamtype === 'refused') return 'refuse';
      streams.push(stream);
      stream.pipe(stream);
      return 'accept';
    };
    const server = new SpdyConnection(transport, { role: 'server', onStream: echo });
    client.on('error', () => undefined).resume();
    for (const piece of pieces(random, input)) if (!server.gone.aborted) client.write(piece);
    client.end();
    await server.closed;
    assert.equal(server.streams.size, 0);
    for (const stream of streams)
      assert.ok(stream.destroyed || stream.readableEnded || stream.writableEnded || stream.cut);
  });
});

test('any sequence of frames is parsed identically, however it is chunked', async () => {
  const parse = (chunks: Iterable<Buffer>) => {
    const parser = new FrameParser();
    let seen = '';
    try {
      for (const chunk of chunks) {
        for (const frame of parser.push(chunk)) {
          if (frame.kind === 'data') seen += `${frame.payload.toString('hex')}${frame.fin ? `/${frame.streamId}` : ''}`;
          else seen += `[${frame.type} ${frame.flags} ${frame.payload.toString('hex')}]`;
        }
      }
    } catch (error) {
      seen += errorCode(error);
    }
    return seen;
  };
  await fuzz({ samples: [conversation()], rounds: 3000 }, (input, random) => {
    assert.equal(parse(pieces(random, input)), parse([input]));
  });
});
