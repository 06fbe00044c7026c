import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type Duplex, duplexPair } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { test } from 'node:test';
import { waitFor } from '@podwright/base';
import { seededRandom } from '../random.fixture.ts';
import { SpdyConnection } from './connection.ts';
import { encodeControl, encodeDataHead, FrameParser, FrameType, uint32 } from './frames.ts';
import { HeaderCodec } from './header-block.ts';
import type { SpdyStream } from './stream.ts';

type OnStream = (stream: SpdyStream) => 'accept' | 'refuse';

function pair(onStream: OnStream) {
  const [here, there] = duplexPair();
  return {
    here,
    there,
    client: new SpdyConnection(here, { role: 'client' }),
    server: new SpdyConnection(there, { role: 'server', onStream }),
  };
}

/** Creates a server connection on one end of a raw transport. Returns the other end, to which the test writes frames as the peer. */
function bare(onStream: OnStream = () => 'accept') {
  const [here, there] = duplexPair();
  const seen: string[] = [];
  const parser = new FrameParser();
  here.on('data', (chunk: Buffer) => {
    for (const frame of parser.push(chunk)) {
      if (frame.kind === 'data') seen.push(`data ${frame.streamId} ${frame.payload}${frame.fin ? ' fin' : ''}`);
      else if (frame.type === FrameType.synReply) seen.push(`reply ${frame.payload.readUInt32BE(0)}`);
      else seen.push(`control ${frame.type} ${frame.payload.toString('hex')}`);
    }
  });
  const codec = new HeaderCodec();
  const open = (id: number) =>
    here.write(
      encodeControl(
        FrameType.synStream,
        0,
        Buffer.concat([uint32(id, 0), Buffer.alloc(2), codec.encode({ streamtype: 'x' })]),
      ),
    );
  const data = (id: number, payload: string, fin = false) =>
    here.write(Buffer.concat([encodeDataHead(id, { fin, length: Buffer.byteLength(payload) }), Buffer.from(payload)]));
  const server = new SpdyConnection(there, { role: 'server', onStream });
  return { here, there, server, seen, open, data };
}

const eventually = (condition: () => boolean) =>
  waitFor(() => (condition() ? true : undefined), { intervalMs: 2, signal: AbortSignal.timeout(5000) });

const settle = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

const accept = () => 'accept' as const;
const echo = (stream: SpdyStream) => {
  stream.pipe(stream);
  return 'accept' as const;
};

test('bytes written to a stream are echoed, and each direction ends independently', async () => {
  const { client } = pair(echo);
  const stream = await client.open({ streamtype: 'stdin' });
  stream.end('hello');
  assert.equal(await text(stream), 'hello');
  assert.equal(stream.cut, false);
});

/** Reads one direction of a stream to its end, and leaves the other one open: by default, Node.js 26 destroys both once iteration ends. */
const textOfHalf = (stream: Duplex) => text(stream.iterator({ destroyOnReturn: false }));

test('closing one direction leaves the other one open, on either side', async () => {
  const { client, server } = pair(accept);
  const stream = await client.open({});
  const theirs = server.streams.get(stream.id)!;
  stream.end();
  assert.equal(await textOfHalf(theirs), '');
  theirs.write('still ');
  theirs.end('here');
  assert.equal(await text(stream), 'still here');
  const second = await client.open({});
  const other = server.streams.get(second.id)!;
  other.end('bye');
  assert.equal(await textOfHalf(second), 'bye');
  second.end('late');
  assert.equal(await text(other), 'late');
});

test('the peer receives stream headers in lower case', async () => {
  const seen: object[] = [];
  const { client } = pair((stream) => {
    seen.push(stream.headers);
    return 'accept';
  });
  await Promise.all([
    client.open({ streamType: 'error', port: '80' }),
    client.open({ streamType: 'data', port: '80' }),
  ]);
  assert.deepEqual(seen, [
    { streamtype: 'error', port: '80' },
    { streamtype: 'data', port: '80' },
  ]);
});

test('opening a stream fails if the peer refuses it, and other streams are not affected', async () => {
  const { client } = pair((stream) => (stream.headers.bad ? 'refuse' : echo(stream)));
  await assert.rejects(client.open({ bad: 'x' }), { code: 'cancelled' });
  const stream = await client.open({});
  stream.end('fine');
  assert.equal(await text(stream), 'fine');
});

test('twenty megabytes in one write are echoed completely in many frames', async () => {
  const { client } = pair(echo);
  const stream = await client.open({});
  const sent = Buffer.alloc(20 << 20, 'abcdefghij');
  stream.end(sent);
  assert.ok((await buffer(stream)).equals(sent));
});

test('a stream that has ended on both sides is removed even if it has not been read', async () => {
  const { client, server } = pair((stream) => {
    stream.end('words');
    return 'accept';
  });
  for (let round = 0; round < 600; round++) (await client.open({})).end();
  await eventually(() => client.streams.size === 0 && server.streams.size === 0);
});

test('a reset stream ends for its reader after the received data, and accepts no more data', async () => {
  const { client, server } = pair(accept);
  const stream = await client.open({});
  const theirs = server.streams.get(stream.id)!;
  theirs.write('some');
  await once(stream, 'readable');
  theirs.destroy();
  await eventually(() => client.streams.size === 0);
  assert.equal(await text(stream), 'some');
  assert.equal(stream.cut, true);
  await eventually(() => stream.destroyed);
  assert.equal(server.streams.size, 0);
});

test('writing to a reset stream fails without an uncaught error', async () => {
  const { client, server } = pair(accept);
  const stream = await client.open({});
  server.streams.get(stream.id)!.destroy();
  await eventually(() => stream.destroyed);
  stream.write('x');
  await settle();
});

test('a slow reader blocks no other stream until a megabyte is unread, and then all streams until it reads', async () => {
  const { client, server, there } = pair(accept);
  const [slow, quick] = await Promise.all([client.open({}), client.open({})]);
  const [slowThere, quickThere] = [server.streams.get(slow.id)!, server.streams.get(quick.id)!];
  slow.write(Buffer.alloc(512 << 10));
  quick.write('first');
  assert.equal(String(await once(quickThere, 'data')), 'first');
  slow.write(Buffer.alloc(4 << 20));
  await eventually(() => there.isPaused());
  assert.ok(slowThere.readableLength < 3 << 20, 'unread data is bounded');
  quick.write('second');
  await settle();
  let read = 0;
  slowThere.on('data', (chunk: Buffer) => {
    read += chunk.length;
  });
  assert.equal(String(await once(quickThere, 'data')), 'second');
  await eventually(() => read === (512 << 10) + (4 << 20));
});

test('destroying a stalled stream unblocks the others', async () => {
  const { client, server, there } = pair(accept);
  const [slow, quick] = await Promise.all([client.open({}), client.open({})]);
  slow.write(Buffer.alloc(4 << 20));
  await eventually(() => there.isPaused());
  quick.end('through');
  server.streams.get(slow.id)!.destroy();
  assert.equal(await text(server.streams.get(quick.id)!), 'through');
});

test('streams end after the received data when the connection is lost, and opening fails', async () => {
  const { client, server } = pair(accept);
  const stream = await client.open({});
  server.streams.get(stream.id)!.write('last words');
  await once(stream, 'readable');
  server.destroy();
  client.destroy();
  assert.equal(await text(stream), 'last words');
  assert.equal(stream.cut, true);
  await client.closed;
  assert.deepEqual([client.streams.size, client.gone.aborted], [0, true]);
  await assert.rejects(client.open({}), { code: 'unavailable' });
});

test('opening a stream fails when the connection is lost before the answer', async () => {
  const [here, there] = duplexPair();
  const client = new SpdyConnection(here, { role: 'client' });
  const opening = client.open({});
  there.end();
  await assert.rejects(opening, { code: 'unavailable' });
});

test('a connection ends when its peer ends it', async () => {
  const { here, server } = bare();
  here.end();
  await server.closed;
  assert.equal(server.gone.aborted, true);
});

test('closing delivers written data first, and discards received data', async () => {
  const { client, server } = pair((stream) => {
    stream.end(Buffer.alloc(1 << 20));
    return 'accept';
  });
  const stream = await client.open({});
  stream.write(Buffer.alloc(3 << 20));
  const received = buffer(stream);
  await eventually(() => server.streams.get(stream.id)!.writableFinished);
  server.close();
  assert.equal((await received).length, 1 << 20);
  assert.equal(stream.cut, false);
  await Promise.all([client.closed, server.closed]);
});

test('pings are answered, pongs are not', async () => {
  const { here, seen } = bare();
  here.write(encodeControl(FrameType.ping, 0, uint32(9)));
  here.write(encodeControl(FrameType.ping, 0, uint32(2)));
  here.write(encodeControl(FrameType.ping, 0, uint32(11)));
  await eventually(() => seen.length === 2);
  assert.deepEqual(seen, ['control 6 00000009', 'control 6 0000000b']);
});

test('empty frames and frames for unknown streams or of unknown types have no effect', async () => {
  const { here, seen, open, data } = bare(echo);
  data(99, 'who?');
  for (const type of [FrameType.rstStream, FrameType.settings, FrameType.goAway, FrameType.windowUpdate, 77])
    here.write(encodeControl(type, 0, uint32(99, 0)));
  here.write(encodeControl(FrameType.settings, 0, Buffer.alloc(0)));
  open(1);
  data(1, 'hello', true);
  await eventually(() => seen.length === 3);
  assert.deepEqual(seen, ['reply 1', 'data 1 hello', 'data 1  fin']);
});

test('a stream whose ID has the wrong parity or was already used is reset', async () => {
  const { seen, open, data } = bare(echo);
  open(3);
  data(3, '', true);
  open(2);
  open(3);
  open(1);
  await eventually(() => seen.filter((line) => line.startsWith('control 3')).length === 3);
  assert.deepEqual(
    seen.filter((line) => line.startsWith('control 3')),
    ['control 3 0000000200000001', 'control 3 0000000300000001', 'control 3 0000000100000001'],
  );
});

test('data after the end of a stream is dropped', async () => {
  const { seen, open, data } = bare(echo);
  open(1);
  data(1, 'a', true);
  data(1, 'b', true);
  await eventually(() => seen.length === 3);
  await settle();
  assert.deepEqual(seen, ['reply 1', 'data 1 a', 'data 1  fin']);
});

test('streams above the limit are refused', async () => {
  const { seen, open } = bare();
  for (let id = 1; id <= 1027; id += 2) open(id);
  await eventually(() => seen.length === 514);
  assert.deepEqual(
    [seen.filter((line) => line.startsWith('reply')).length, seen.at(-1)],
    [512, `control 3 ${uint32(1027, 3).toString('hex')}`],
  );
});

test('a peer that triggers replies without reading them is disconnected', async () => {
  const [here, there] = duplexPair();
  const server = new SpdyConnection(there, { role: 'server' });
  const pings = Buffer.concat(Array(1000).fill(encodeControl(FrameType.ping, 0, uint32(1))));
  here.on('error', () => undefined);
  for (let round = 0; round < 100 && !server.gone.aborted; round++) {
    here.write(pings);
    await settle();
  }
  await server.closed;
  assert.equal((server.gone.reason as { code: string }).code, 'resource_exhausted');
});

test('bytes that are not SPDY, and invalid header blocks, end the connection', async () => {
  for (const hex of ['80020001000000ff', '80030001000000020000', '800300010000000c000000010000000000000000']) {
    const { here, server } = bare();
    here.write(Buffer.from(hex, 'hex'));
    await server.closed;
    assert.equal((server.gone.reason as { code: string }).code, 'invalid_argument');
  }
});

test('bytes received with the upgrade are read first', async () => {
  const [here, there] = duplexPair();
  const ping = (id: number) => encodeControl(FrameType.ping, 0, uint32(id));
  new SpdyConnection(there, { role: 'server', head: ping(1).subarray(0, 5) });
  here.write(Buffer.concat([ping(1).subarray(5), ping(3)]));
  const answers: Buffer[] = [];
  here.on('data', (chunk: Buffer) => answers.push(chunk));
  await eventually(() => Buffer.concat(answers).length === 24);
});

/** Performs writes, half-closes, reads and resets on one stream in a random order. */
async function live(stream: Duplex, random: (below: number) => number): Promise<void> {
  for (let step = random(6); step > 0; step--) {
    if (stream.destroyed || !stream.writable) return;
    stream.write(Buffer.alloc(random(40_000)));
    if (random(3) === 0) await settle();
  }
  const end = random(4);
  if (end === 0) stream.destroy();
  else if (end === 1) stream.end();
  else if (end === 2) stream.resume().end();
  else stream.resume();
}

test('opening, resetting and closing two hundred streams in any order removes all of them, whatever the seed', async () => {
  for (const seed of [1, 2, 3]) {
    const random = seededRandom(seed);
    const lives: Promise<void>[] = [];
    const { client, server } = pair((stream) => {
      if (random(10) === 0) return 'refuse';
      lives.push(live(stream, random));
      return 'accept';
    });
    const opened = Array.from({ length: 200 }, async () => {
      for (let wait = random(20); wait > 0; wait--) await settle();
      const stream = await client.open({ streamtype: 'x' }).catch(() => undefined);
      if (stream !== undefined) await live(stream, random);
    });
    await Promise.race([Promise.all(opened), client.closed]);
    for (const stream of [...client.streams.values(), ...server.streams.values()])
      if (random(2) === 0) stream.destroy();
    await Promise.all(lives);
    (random(2) === 0 ? client : server).close();
    client.destroy();
    await Promise.all([client.closed, server.closed]);
    assert.deepEqual([client.streams.size, server.streams.size], [0, 0], `seed ${seed}`);
  }
});
