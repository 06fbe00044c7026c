import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { sleep, waitFor } from '@podwright/base';
import { connectService } from '../client/connect-service.ts';
import { EchoRequestSchema, EchoResponseSchema, Test } from '../gen/podwright/test/v1/test_pb.js';
import { CLIENT_PREFACE, FLAG, FRAME_TYPE, frame, headersFrames, numberFrame } from '../http2/frames.ts';
import { encodeLiterals } from '../http2/hpack-encoder.ts';
import { settingsFrame } from '../http2/peer-settings.ts';
import type { HeaderField } from '../http2/static-table.ts';
import { MAX_MESSAGE_BYTES } from '../limits.ts';
import { withPrefix } from '../message-reader.ts';
import { BareClient, callFrames, openServer, requestHeaders, SETTINGS, startServer } from './bare-client.fixture.ts';

const EMPTY = Buffer.alloc(0);
const request = (text: string) => toBinary(EchoRequestSchema, create(EchoRequestSchema, { text }));
const nameIn = (message: Buffer) => fromBinary(EchoResponseSchema, message).text;

async function assertAnswered(client: BareClient, streamId = 1, name = ''): Promise<void> {
  const { status, message, resetCode } = await client.reply(streamId);
  assert.deepEqual([status, nameIn(message), resetCode], ['0', name, undefined]);
}

/** An Echo handler that blocks every call until the call is released. */
function heldEcho() {
  const begun = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const echo = async () => {
    begun.resolve();
    await release.promise;
    return { text: 'late' };
  };
  return { begun, release, echo };
}

const someTurns = async () => {
  for (let turns = 0; turns < 20; turns++) await new Promise(setImmediate);
};
const until = (isIt: () => boolean) =>
  waitFor(() => isIt() || undefined, { intervalMs: 5, signal: AbortSignal.timeout(20_000) });

const authorities: HeaderField[][] = [
  ...['localhost', 'localhost:0', '.', '%2Frun%2Fcri%2Fx.sock', '[::1]:80', ''].map((one): HeaderField[] => [
    [':authority', one],
  ]),
  ...['/run/cri/x.sock', 'run/x.sock', 'unix:///run/x.sock', 'a b', 'caf\xe9'].map((one): HeaderField[] => [
    [':authority', one],
  ]),
  [],
];

for (const authority of authorities)
  test(`a client whose authority is ${JSON.stringify(authority[0]?.[1])} is answered repeatedly`, async (t) => {
    const client = await BareClient.open(t, await startServer(t));
    for (const streamId of [1, 3, 5]) {
      client.send(callFrames(streamId, requestHeaders('Echo', ...authority), request(`stream ${streamId}`)));
      await assertAnswered(client, streamId, `stream ${streamId}`);
    }
  });

test('a host header is accepted in place of, or in addition to, the authority', async (t) => {
  const client = await BareClient.open(t, await startServer(t));
  client.send(callFrames(1, [...requestHeaders('Echo'), ['host', 'node']], EMPTY));
  const both: HeaderField[] = [...requestHeaders('Echo', [':authority', '/x']), ['host', '/run/x.sock']];
  client.send(callFrames(3, both, EMPTY));
  await assertAnswered(client, 1);
  await assertAnswered(client, 3);
});

test('settings are sent before anything else, and the client’s are acknowledged', async (t) => {
  const path = await startServer(t);
  const client = await BareClient.open(t, path, EMPTY);
  const settings = await client.frame(() => true);
  assert.equal(settings.type, FRAME_TYPE.settings);
  assert.equal(settings.payload.toString('hex'), `0003${'000003e8'}0006${'00010000'}`);
  client.send(CLIENT_PREFACE, SETTINGS);
  await client.frame(({ type, flags }) => type === FRAME_TYPE.settings && flags === FLAG.ack);
});

test('a client that makes no request or never acknowledges the settings is still served', async (t) => {
  const client = await BareClient.open(t, await startServer(t));
  const ping = Buffer.from('pingpong');
  client.send(frame({ type: FRAME_TYPE.ping }, ping));
  const pong = await client.frame(({ type, flags }) => type === FRAME_TYPE.ping && flags === FLAG.ack);
  assert.deepEqual(pong.payload, ping);
  client.send(callFrames(1, requestHeaders('Echo'), EMPTY));
  await assertAnswered(client);
});

test('a client that sends many frames, even of unknown types, before its first request is served', async (t) => {
  const client = await BareClient.open(t, await startServer(t));
  for (let sent = 0; sent < 5000; sent++)
    client.send(
      frame({ type: FRAME_TYPE.priority, streamId: 1 }, Buffer.alloc(5)),
      frame({ type: 0xee, flags: 0xff, streamId: sent }, Buffer.alloc(sent % 99)),
    );
  client.send(callFrames(3, requestHeaders('Echo'), EMPTY));
  await assertAnswered(client, 3);
});

test('later requests are decoded with the header table of the earlier ones', async (t) => {
  const client = await BareClient.open(t, await startServer(t));
  // HPACK indexes: 4 is `:path` and 31 is `content-type` in the static table; 62 is the newest entry of the dynamic table
  const text = (one: string) => Buffer.concat([Buffer.of(one.length), Buffer.from(one)]);
  const path = Buffer.concat([Buffer.of(0x44), text('/podwright.test.v1.Test/Echo')]);
  const type = Buffer.concat([Buffer.of(0x5f), text('application/grpc')]);
  const blocks = [Buffer.concat([Buffer.of(0x83, 0x86), path, type]), Buffer.of(0x83, 0x86, 0xbf, 0xbe)];
  for (const [index, block] of blocks.entries()) {
    const streamId = 2 * index + 1;
    const data = frame({ type: FRAME_TYPE.data, flags: FLAG.endStream, streamId }, withPrefix(request('x')));
    client.send(headersFrames(block, { streamId, endStream: false }), data);
    await assertAnswered(client, streamId, 'x');
  }
});

test('padding, priority, continuations and trailers are parsed', async (t) => {
  const client = await BareClient.open(t, await startServer(t));
  const long: HeaderField[] = [1, 2].map((n) => [`x-${n}`, 'y'.repeat(16_000)]);
  const block = encodeLiterals([...requestHeaders('Echo', [':authority', '/x']), ...long]);
  const padded = Buffer.concat([Buffer.of(3), Buffer.alloc(5), block.subarray(0, 20), Buffer.alloc(3)]);
  const body = withPrefix(request('in pieces'));
  client.send(
    frame({ type: FRAME_TYPE.headers, flags: FLAG.padded | FLAG.priority, streamId: 1 }, padded),
    frame({ type: FRAME_TYPE.continuation, streamId: 1 }),
    frame({ type: FRAME_TYPE.continuation, streamId: 1 }, block.subarray(20, 16_000)),
    frame({ type: FRAME_TYPE.continuation, flags: FLAG.endHeaders, streamId: 1 }, block.subarray(16_000)),
    frame({ type: FRAME_TYPE.data, streamId: 1 }, body.subarray(0, 3)),
    frame(
      { type: FRAME_TYPE.data, flags: FLAG.padded, streamId: 1 },
      Buffer.concat([Buffer.of(2), body.subarray(3), EMPTY, Buffer.alloc(2)]),
    ),
    headersFrames(encodeLiterals([['x-checksum', '1']]), { streamId: 1, endStream: true }),
  );
  await assertAnswered(client, 1, 'in pieces');
});

test('a request may end in a separate frame, however it is chunked', async (t) => {
  const path = await startServer(t);
  for (const size of [1, 2, 7, 9, 10, 100]) {
    const client = await BareClient.open(t, path, EMPTY);
    const call = Buffer.concat([
      CLIENT_PREFACE,
      SETTINGS,
      headersFrames(encodeLiterals(requestHeaders('Echo')), { streamId: 1, endStream: false }),
      frame({ type: FRAME_TYPE.data, streamId: 1 }, withPrefix(request('x'))),
      frame({ type: FRAME_TYPE.data, flags: FLAG.endStream, streamId: 1 }),
    ]);
    for (let at = 0; at < call.length; at += size) {
      client.send(call.subarray(at, at + size));
      await new Promise(setImmediate);
    }
    await assertAnswered(client, 1, 'x');
  }
});

test('an invalid HTTP/2 request is rejected, and the connection remains usable', async (t) => {
  const client = await BareClient.open(t, await startServer(t));
  const good = requestHeaders('Echo');
  const bad: HeaderField[][] = [
    good.filter(([name]) => name !== ':path'),
    good.filter(([name]) => name !== ':method'),
    good.filter(([name]) => name !== ':scheme'),
    [...good, [':authority', 'late']],
    [[':path', '/x'], ...good],
    [[':status', '200'], ...good],
    [],
  ];
  for (const [index, fields] of bad.entries()) {
    client.send(callFrames(2 * index + 1, [...fields, ['x', 'y']], EMPTY));
    assert.equal((await client.reply(2 * index + 1)).resetCode, 1, JSON.stringify(fields));
  }
  client.send(callFrames(99, good, EMPTY));
  await assertAnswered(client, 99);
});

test('streams beyond a thousand are refused, even many at once, and the others are answered', async (t) => {
  const release = Promise.withResolvers<void>();
  const echo = async () => {
    await release.promise;
    return {};
  };
  const client = await BareClient.open(t, await startServer(t, { handlers: { echo } }));
  const ids = Array.from({ length: 3000 }, (_, index) => 2 * index + 1);
  client.send(...ids.map((id) => callFrames(id, requestHeaders('Echo'), EMPTY)));
  const resets = () => client.frames().filter(({ type }) => type === FRAME_TYPE.resetStream);
  await until(() => resets().length === 2000);
  assert.deepEqual(
    resets().map(({ streamId, payload }) => [streamId, payload.readUInt32BE(0)]),
    ids.slice(1000).map((id) => [id, 7]),
  );
  release.resolve();
  for (const id of [1, 1999]) assert.equal((await client.reply(id)).status, '0');
  client.send(callFrames(7001, requestHeaders('Echo'), EMPTY));
  assert.equal((await client.reply(7001)).status, '0');
});

test('a stream is produced no faster than a client reads it', async (t) => {
  let produced = 0;
  const chunk = 'x'.repeat(100_000);
  const path = await startServer(t, {
    handlers: {
      async *list() {
        for (; produced < 60; produced++) yield { items: [{ id: chunk }] };
      },
    },
  });
  const client = await BareClient.open(t, path);
  client.send(callFrames(1, requestHeaders('List'), EMPTY));
  // this client does not increase its receive window, so the server may send only HTTP/2's initial 65,535 bytes
  await until(() => client.receivedBytes > 65_000);
  await sleep(50);
  assert.ok(produced <= 2, `${produced} of 60 responses were produced for a window smaller than one`);
  for (const streamId of [0, 1]) client.send(numberFrame({ type: FRAME_TYPE.windowUpdate, streamId }, 50_000_000));
  assert.ok((await client.reply(1)).message.length > 5_900_000);
});

test('a stream is produced no faster than the client’s socket is read, whatever its windows', async (t) => {
  let produced = 0;
  const chunk = 'x'.repeat(100_000);
  const path = await startServer(t, {
    handlers: {
      async *list() {
        for (; produced < 200; produced++) yield { items: [{ id: chunk }] };
      },
    },
  });
  const client = await BareClient.open(t, path);
  client.socket.pause();
  client.send(numberFrame({ type: FRAME_TYPE.windowUpdate }, 2 ** 31 - 1 - 65_535));
  client.send(frame({ type: FRAME_TYPE.settings }, Buffer.from('00047fffffff', 'hex')));
  client.send(callFrames(1, requestHeaders('List'), EMPTY));
  await until(() => produced > 0);
  await sleep(200);
  assert.ok(produced < 30, `${produced} of 200 responses were produced without a reader`);
  client.socket.resume();
  assert.ok((await client.reply(1)).message.length > 19_000_000);
});

test('responses wait for a window that shrinks and then reopens', async (t) => {
  const client = await BareClient.open(t, await startServer(t));
  const size = (bytes: number) =>
    frame({ type: FRAME_TYPE.settings }, Buffer.from(`0004${bytes.toString(16).padStart(8, '0')}`, 'hex'));
  const text = 'y'.repeat(50_000);
  client.send(size(0), callFrames(1, requestHeaders('Echo'), request('none')));
  client.send(size(10_000), callFrames(3, requestHeaders('Echo'), request('')));
  await assertAnswered(client, 1, 'none'); // its window has grown with the setting
  await assertAnswered(client, 3);
  client.send(headersFrames(encodeLiterals(requestHeaders('Echo')), { streamId: 5, endStream: false }));
  const body = withPrefix(request(text));
  for (let at = 0; at < body.length; at += 16_384)
    client.send(
      frame(
        { type: FRAME_TYPE.data, flags: at + 16_384 >= body.length ? 1 : 0, streamId: 5 },
        body.subarray(at, at + 16_384),
      ),
    );
  const dataBytes = () =>
    client
      .frames()
      .filter((one) => one.type === FRAME_TYPE.data && one.streamId === 5)
      .reduce((sum, { payload }) => sum + payload.length, 0);
  await until(() => dataBytes() === 10_000);
  client.send(size(0)); // a window of minus 10,000
  client.send(numberFrame({ type: FRAME_TYPE.windowUpdate, streamId: 5 }, 10_001));
  await until(() => dataBytes() === 10_001);
  client.send(numberFrame({ type: FRAME_TYPE.windowUpdate, streamId: 5 }, 100_000));
  await assertAnswered(client, 5, text);
});

test('late data and trailers are ignored, and do not use up the window', async (t) => {
  const client = await BareClient.open(t, await startServer(t));
  client.send(headersFrames(encodeLiterals(requestHeaders('Nothing')), { streamId: 1, endStream: false }));
  const { status, resetCode } = await client.reply(1);
  assert.equal(status, '12');
  assert.equal(resetCode ?? 0, 0);
  const windowBytes = () => {
    const grants = client.frames().filter(({ type, streamId }) => type === FRAME_TYPE.windowUpdate && streamId === 0);
    return grants.reduce((sum, { payload }) => sum + payload.readUInt32BE(0), 65_535);
  };
  for (let sentBytes = 10_000; sentBytes <= 1_000_000; sentBytes += 10_000) {
    await until(() => windowBytes() >= sentBytes);
    client.send(frame({ type: FRAME_TYPE.data, streamId: 1 }, Buffer.alloc(10_000)));
  }
  client.send(headersFrames(encodeLiterals([['x-checksum', '1']]), { streamId: 1, endStream: true }));
  client.send(callFrames(3, requestHeaders('Echo'), EMPTY));
  await assertAnswered(client, 3);
});

test('a closing server accepts no new call, sends GOAWAY, and closes each connection after its last call', async (t) => {
  const { begun, release, echo } = heldEcho();
  const { server, path } = await openServer(t, { handlers: { echo } });
  const idle = await BareClient.open(t, path);
  const client = await BareClient.open(t, path);
  client.send(callFrames(1, requestHeaders('Echo'), EMPTY));
  await begun.promise;
  const closed = server.close(20_000);
  const goodbye = await client.frame(({ type }) => type === FRAME_TYPE.goAway);
  assert.equal(goodbye.payload.toString('hex'), '0000000100000000');
  client.send(
    callFrames(3, requestHeaders('Echo'), EMPTY),
    numberFrame({ type: FRAME_TYPE.resetStream, streamId: 3 }, 8),
  );
  await idle.closed;
  release.resolve();
  await assertAnswered(client, 1, 'late');
  await closed;
  assert.ok(!client.frames().some(({ streamId }) => streamId === 3));
});

test('a response in flight when a server closes arrives completely, even if the client sends pings', async (t) => {
  const answered = Promise.withResolvers<void>();
  const echo = async () => {
    answered.resolve();
    return { text: 'x'.repeat(250_000) };
  };
  const { server, path } = await openServer(t, { handlers: { echo } });
  const client = await BareClient.open(t, path);
  const wide = numberFrame({ type: FRAME_TYPE.windowUpdate }, 1 << 20);
  client.send(settingsFrame({ initialWindowSize: 1 << 20 }), wide);
  client.socket.pause();
  client.send(callFrames(1, requestHeaders('Echo'), EMPTY));
  await answered.promise;
  const closed = server.close(20_000);
  await until(() => !existsSync(path));
  await someTurns(); // the server has written everything by then
  client.send(frame({ type: FRAME_TYPE.ping }, Buffer.alloc(8)));
  await someTurns(); // the server reads the ping before the client reads anything
  client.socket.resume();
  const { status, message } = await client.reply(1);
  assert.deepEqual([status, nameIn(message).length], ['0', 250_000]);
  await closed;
});

test('data allowed by new client settings is sent after their acknowledgement', async (t) => {
  const { path } = await openServer(t, { handlers: { echo: async () => ({ text: 'x'.repeat(5000) }) } });
  const client = await BareClient.open(t, path);
  client.send(settingsFrame({ initialWindowSize: 1000 }), callFrames(1, requestHeaders('Echo'), EMPTY));
  await client.frame(({ type }) => type === FRAME_TYPE.data);
  const count = client.frames().length;
  client.send(settingsFrame({ initialWindowSize: 100_000 }));
  await client.reply(1);
  const [first, second] = client.frames().slice(count);
  assert.deepEqual([first!.type, first!.flags, second!.type], [FRAME_TYPE.settings, FLAG.ack, FRAME_TYPE.data]);
});

test('a client that violates the protocol after a GOAWAY receives another with the same last stream', async (t) => {
  const { begun, release, echo } = heldEcho();
  const { server, path } = await openServer(t, { handlers: { echo } });
  const client = await BareClient.open(t, path);
  client.send(callFrames(1, requestHeaders('Echo'), EMPTY));
  await begun.promise;
  const closed = server.close(20_000);
  await client.frame(({ type }) => type === FRAME_TYPE.goAway);
  client.send(callFrames(3, requestHeaders('Echo'), EMPTY), frame({ type: FRAME_TYPE.ping }, Buffer.alloc(7)));
  await client.closed;
  const goAways = client.frames().filter(({ type }) => type === FRAME_TYPE.goAway);
  assert.deepEqual(
    goAways.map(({ payload }) => payload.readUInt32BE(0)),
    [1, 1],
  );
  release.resolve();
  await closed;
});

test('large requests and responses arrive complete in both directions', async (t) => {
  const path = await startServer(t);
  const client = connectService(Test, path, { maxReceiveBytes: MAX_MESSAGE_BYTES });
  t.after(() => client.close());
  const long = 'z'.repeat(15 << 20);
  assert.equal((await client.echo({ text: long })).text.length, long.length);
});

test('a client that ends mid-frame leaves no open connection', async (t) => {
  const client = await BareClient.open(t, await startServer(t));
  client.socket.end(Buffer.from([0, 0, 9, 1]));
  await once(client.socket, 'close', { signal: AbortSignal.timeout(5000) });
});
