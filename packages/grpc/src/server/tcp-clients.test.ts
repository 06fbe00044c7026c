/** TCP clients, which are served by node:http2, have the same calls and limits as clients of the Unix socket. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { type Logger, PodwrightError, silentLogger, sleep, statusNumber, waitFor } from '@podwright/base';
import { runChecked } from '@podwright/host';
import { Connection } from '../client/connection.ts';
import { createServiceClient } from '../client/service-client.ts';
import { EchoRequestSchema, EchoResponseSchema, Test } from '../gen/podwright/test/v1/test_pb.js';
import { CLIENT_PREFACE, FRAME_TYPE, frame, headersFrames, numberFrame } from '../http2/frames.ts';
import { encodeLiterals } from '../http2/hpack-encoder.ts';
import type { HeaderField } from '../http2/static-table.ts';
import {
  MAX_CONNECTION_IDLE_MS,
  MAX_CONNECTIONS,
  MAX_MESSAGE_BYTES,
  MAX_WAITING_CONNECTIONS,
  PREFACE_TIMEOUT_MS,
} from '../limits.ts';
import { withPrefix } from '../message-reader.ts';
import { BareClient, callFrames, openServer, requestHeaders, SETTINGS } from './bare-client.fixture.ts';
import type { CallContext, ServiceHandlers } from './handlers.ts';
import { bytes, many, NOTHING, reset, VIOLATIONS } from './violations.fixture.ts';

type Handlers = Partial<ServiceHandlers<typeof Test>>;

const { headers, ping, goAway, settings, windowUpdate, resetStream } = FRAME_TYPE;
const echo: Handlers['echo'] = async ({ text }) => ({ text });

/** The header fields of a request over TCP, where clients also send `:authority`. */
const fieldsOf = (method: string, ...more: HeaderField[]) =>
  requestHeaders(method, [':authority', 'localhost'], ...more);
const call = (streamId: number, method = 'Echo', text = '') =>
  callFrames(streamId, fieldsOf(method), toBinary(EchoRequestSchema, create(EchoRequestSchema, { text })));
/** The headers of a request whose message never arrives. */
const begun = (streamId: number) => headersFrames(encodeLiterals(fieldsOf('Echo')), { streamId, endStream: false });
const until = (isIt: () => boolean) =>
  waitFor(() => isIt() || undefined, { intervalMs: 5, signal: AbortSignal.timeout(20_000) });

async function open(t: TestContext, handlers: Handlers = { echo }, logger: Logger = silentLogger) {
  const { server } = await openServer(t, { handlers, logger, tcp: { address: '127.0.0.1', port: 0 } });
  return { server, port: server.tcpPort! };
}

async function clientOf(t: TestContext, handlers: Handlers) {
  const { server, port } = await open(t, handlers);
  const observer = { started: () => () => undefined };
  const connection = new Connection({ kind: 'tcp', host: '127.0.0.1', port }, { observer });
  t.after(() => connection.close());
  return { ...createServiceClient(Test, connection), server };
}

async function assertAnswered(port: number, t: TestContext): Promise<void> {
  const good = await BareClient.open(t, { port });
  good.send(call(1, 'Echo', 'still here'));
  assert.equal(fromBinary(EchoResponseSchema, (await good.reply(1)).message).text, 'still here');
}

test('calls, streams, errors and deadlines work the same over TCP', { timeout: 30_000 }, async (t) => {
  const reasons: unknown[] = [];
  const client = await clientOf(t, {
    echo: async ({ text }) => {
      if (text === 'fail') throw new PodwrightError('not_found', 'no ü');
      return { text };
    },
    wait: async (_request: unknown, { signal }: CallContext) => {
      await sleep(60_000, signal).catch(() => reasons.push((signal.reason as PodwrightError).code));
      return {};
    },
    async *list() {
      for (let index = 0; index < 100; index++) yield { items: [{ id: `${index}`, image: 'x'.repeat(10_000) }] };
      throw new PodwrightError('aborted', 'no more');
    },
    async *watch() {
      yield { text: 'first' };
    },
  });
  const long = 'z'.repeat(15 << 20);
  const [answer, short] = await Promise.all([client.echo({ text: long }), client.echo({})]);
  assert.deepEqual([answer.text.length, short.text], [long.length, '']);
  await assert.rejects(client.echo({ text: 'fail' }), { code: 'not_found', message: 'no ü' });
  const ids: string[] = [];
  const readAll = async () => {
    for await (const { items } of client.list({})) ids.push(items[0]!.id);
  };
  await assert.rejects(readAll(), { code: 'aborted', message: 'no more' });
  assert.equal(ids.length, 100);
  for await (const { text } of client.watch({})) assert.equal(text, 'first');
  await assert.rejects(client.wait({}, { timeoutMs: 50 }), { code: 'deadline_exceeded' });
  await assert.rejects(client.wait({}, { signal: AbortSignal.timeout(300) }), { name: 'TimeoutError' });
  await until(() => reasons.length === 2);
  assert.deepEqual(reasons, ['deadline_exceeded', 'cancelled']);
});

test('invalid requests over TCP are rejected, and the connection remains usable', { timeout: 30_000 }, async (t) => {
  const { port } = await open(t);
  const session = connect(`http://127.0.0.1:${port}`);
  t.after(() => session.destroy());
  const request = (fields: Record<string, string>) =>
    session.request({
      ':method': 'POST',
      ':path': '/podwright.test.v1.Test/Echo',
      'content-type': 'application/grpc',
      ...fields,
    });
  const statusOf = async (fields: Record<string, string>, body: Buffer) => {
    const stream = request(fields).end(body);
    const found: Record<string, unknown> = {};
    for (const event of ['response', 'trailers']) stream.on(event, (more) => Object.assign(found, more));
    stream.resume();
    await once(stream, 'close');
    return [found[':status'], found['grpc-status']];
  };
  const empty = withPrefix(NOTHING);
  const unimplemented = [200, String(statusNumber('unimplemented'))];
  assert.deepEqual(await statusOf({ 'content-type': 'text/html' }, empty), [415, undefined]);
  assert.deepEqual(await statusOf({ ':path': '/nothing' }, empty), unimplemented);
  assert.deepEqual(await statusOf({}, NOTHING), unimplemented);
  assert.deepEqual(await statusOf({ 'grpc-timeout': 'x' }, empty), [200, String(statusNumber('invalid_argument'))]);
  const tooLarge = request({});
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(MAX_MESSAGE_BYTES + 1, 1);
  tooLarge.write(prefix);
  const [answer] = await once(tooLarge, 'response');
  assert.equal(Number(answer['grpc-status']), statusNumber('resource_exhausted'));
  tooLarge.on('error', () => undefined).resume();
  tooLarge.write(bytes(1 << 20)); // more than the window: the server discards it, and the connection does not stall
  await once(tooLarge, 'close');
  const unfinished = request({ ':path': '/nothing' });
  unfinished.on('error', () => undefined).resume();
  await once(unfinished, 'close'); // although the client does not end it
  assert.deepEqual(await statusOf({}, empty), [200, '0']);
});

test('a client that violates HTTP/2 over TCP loses its call or connection without affecting other clients', async (t) => {
  const never = () => new Promise<never>(() => undefined);
  const lines: string[] = [];
  const logger: Logger = { ...silentLogger, info: (fields) => void lines.push(JSON.stringify(fields)) };
  const { port } = await open(t, { echo, wait: never }, logger);
  for (const [what, frames] of VIOLATIONS.filter(([what]) => what !== 'a flood of full continuations')) {
    const bad = await BareClient.open(t, { port });
    bad.send(...frames);
    const { type } = await bad.frame((one) => one.type === goAway || one.type === resetStream);
    if (type === resetStream) continue;
    assert.ok((await bad.end()) !== 'nothing', what);
    await until(() => lines.length > 0);
    assert.match(lines.pop()!, /error/, what);
  }
  await assertAnswered(port, t);
});

test('header lists over TCP have the same limit as on the socket, and never take more memory', async (t) => {
  const { port } = await open(t);
  const client = await BareClient.open(t, { port });
  const advertised = await client.frame(({ type, flags }) => type === settings && flags === 0);
  assert.match(advertised.payload.toString('hex'), /000600010000/);
  const withBytes = (count: number): HeaderField[] => many(count / 1000, (index) => [`x-${index}`, 'y'.repeat(1000)]);
  client.send(callFrames(1, [...fieldsOf('Echo'), ...withBytes(50_000)], NOTHING));
  assert.equal((await client.reply(1)).status, '0');
  client.send(callFrames(3, [...fieldsOf('Echo'), ...withBytes(70_000)], NOTHING));
  assert.equal((await client.reply(3)).resetCode, 11);
  const endless = await BareClient.open(t, { port });
  endless.send(
    frame({ type: headers, streamId: 1 }, bytes(16_384)),
    ...many(20, () => frame({ type: FRAME_TYPE.continuation, streamId: 1 }, bytes(16_384))),
  );
  assert.notEqual(await endless.end(), 'nothing');
  await assertAnswered(port, t);
});

test('a TCP client may have at most a thousand calls, and is disconnected if it continues', async (t) => {
  let running = 0;
  const wait = () => {
    running++;
    return new Promise<never>(() => undefined);
  };
  const { port } = await open(t, { echo, wait });
  const client = await BareClient.open(t, { port });
  await client.frame(({ type, flags }) => type === settings && flags === 1);
  client.send(SETTINGS, ...many(1500, (index) => call(2 * index + 1, 'Wait')));
  await client.frame(({ type }) => type === resetStream || type === goAway);
  await sleep(200);
  assert.equal(running, 1000);
  await assertAnswered(port, t);
});

test('a TCP client that resets more than a thousand calls at once is disconnected', async (t) => {
  const { port } = await open(t);
  const client = await BareClient.open(t, { port });
  client.send(...many(900, (index) => Buffer.concat([begun(2 * index + 1), reset(2 * index + 1)])));
  client.send(call(9001));
  assert.equal((await client.reply(9001)).status, '0');
  client.send(...many(300, (index) => Buffer.concat([begun(2 * index + 9003), reset(2 * index + 9003)])));
  assert.notEqual(await client.end(), 'nothing');
  await assertAnswered(port, t);
});

test('a TCP client without a preface is disconnected, and an idle one receives GOAWAY', async (t) => {
  const { port } = await open(t);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const silent = await BareClient.open(t, { port }, NOTHING);
  const half = await BareClient.open(t, { port }, CLIENT_PREFACE);
  const idle = await BareClient.open(t, { port });
  const received = async (client: BareClient, isIt: (one: ReturnType<BareClient['frames']>[0]) => boolean) => {
    while (!client.frames().some(isIt)) await once(client.socket, 'data');
  };
  for (const one of [silent, half, idle]) await received(one, () => true);
  idle.send(frame({ type: ping }, bytes(8)));
  await received(idle, ({ type }) => type === ping);
  t.mock.timers.tick(PREFACE_TIMEOUT_MS);
  await Promise.all([silent.closed, half.closed]);
  t.mock.timers.tick(MAX_CONNECTION_IDLE_MS);
  const end = await idle.end();
  assert.ok(end !== 'nothing' && end.code === 0);
});

test('a stream over TCP is produced no faster than its client reads', { timeout: 30_000 }, async (t) => {
  let produced = 0;
  const chunk = 'x'.repeat(100_000);
  const { port } = await open(t, {
    echo,
    async *list() {
      for (; produced < 60; produced++) yield { items: [{ id: chunk }] };
    },
  });
  const client = await BareClient.open(t, { port });
  client.send(call(1, 'List'));
  await until(() => client.receivedBytes > 65_000);
  await sleep(50);
  assert.ok(produced <= 2, `${produced} of 60 responses were produced for a window smaller than one`);
  client.send(call(3));
  for (const streamId of [0, 1]) client.send(numberFrame({ type: windowUpdate, streamId }, 50_000_000));
  assert.ok((await client.reply(1)).message.length > 5_900_000);
  assert.equal((await client.reply(3)).status, '0');
});

test('large responses that a TCP client does not read do not block its other calls', async (t) => {
  const text = 'x'.repeat(15 << 20);
  const { port } = await open(t, { echo, wait: async () => ({ text }) });
  const client = await BareClient.open(t, { port });
  client.send(...[1, 3, 5].map((id) => call(id, 'Wait')));
  await until(() => client.receivedBytes > 65_000);
  client.send(numberFrame({ type: windowUpdate }, 1 << 20), call(7, 'Echo', 'small'));
  assert.equal((await client.reply(7)).status, '0');
});

test('every request of a stream over TCP is read', { timeout: 20_000 }, async (t) => {
  const { port } = await open(t);
  const session = connect(`http://127.0.0.1:${port}`);
  t.after(() => session.destroy());
  const path = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo';
  const stream = session.request({ ':method': 'POST', ':path': path, 'content-type': 'application/grpc' });
  for (let asked = 0; asked < 3; asked++) {
    stream.write(withPrefix(Buffer.from('3a012a', 'hex'))); // list_services: "*"
    const [answer] = (await once(stream, 'data')) as [Buffer];
    assert.ok(answer.includes('podwright.test.v1.Test'));
  }
  stream.end();
  const [trailers] = await once(stream, 'trailers');
  assert.equal(trailers['grpc-status'], '0');
});

test('unread request data over TCP waits in its stream’s window', async (t) => {
  const { port } = await open(t);
  const client = await BareClient.open(t, { port });
  const reflection = fieldsOf('').map(
    ([name, value]): HeaderField => [
      name,
      name === ':path' ? '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo' : value,
    ],
  );
  // the client's flow-control window of 0 bytes blocks the first response, so the handler does not read the second request yet
  client.send(frame({ type: settings }, Buffer.from('000400000000', 'hex')));
  client.send(headersFrames(encodeLiterals(reflection), { streamId: 1, endStream: false }));
  client.send(frame({ type: FRAME_TYPE.data, streamId: 1 }, bytes(5)));
  await client.frame(({ type }) => type === headers);
  await sleep(100);
  for (let sent = 0; sent < 100; sent++) client.send(frame({ type: FRAME_TYPE.data, streamId: 1 }, bytes(16_384)));
  const end = await Promise.race([
    client.frame(({ type }) => type === resetStream || type === goAway),
    client.closed.then(() => undefined),
  ]);
  assert.ok(end === undefined || end.payload.readUInt32BE(end.type === goAway ? 4 : 0) === 3);
});

test('a closing server sends GOAWAY to TCP clients, and waits for their running calls', async (t) => {
  const running = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const wait = async () => {
    running.resolve();
    await release.promise;
    return { text: 'late' };
  };
  const { server, port } = await open(t, { wait });
  const idle = await BareClient.open(t, { port });
  const client = await BareClient.open(t, { port });
  await idle.frame(({ type }) => type === settings);
  client.send(call(1, 'Wait'));
  await running.promise;
  const closed = server.close(20_000);
  await client.frame(({ type }) => type === goAway);
  await idle.closed;
  release.resolve();
  assert.equal((await client.reply(1)).status, '0');
  await closed;
});

test('TCP connections above the limit are refused until others end', { timeout: 30_000 }, async (t) => {
  const { port } = await open(t);
  const clients: BareClient[] = [];
  for (let count = 0; count < MAX_CONNECTIONS; count++) clients.push(await BareClient.open(t, { port }));
  await clients.at(-1)!.frame(({ type }) => type === settings);
  await (await BareClient.open(t, { port })).closed;
  clients[0]!.socket.destroy();
  await clients[0]!.closed;
  await until(() => clients[0]!.socket.destroyed);
  await assertAnswered(port, t);
});

test('clients that do not complete the TLS handshake do not lock out others', { timeout: 30_000 }, async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'podwright-tls-'));
  t.after(() => rm(directory, { recursive: true }));
  const [keyFile, certificateFile] = [join(directory, 'key'), join(directory, 'certificate')];
  const options = ['-x509', '-nodes', '-newkey', 'rsa:2048', '-subj', '/CN=localhost', '-days', '2'];
  await runChecked('openssl', ['req', ...options, '-keyout', keyFile, '-out', certificateFile]);
  const [key, certificate] = await Promise.all([readFile(keyFile), readFile(certificateFile)]);
  const tls = { key, certificate, clientCa: certificate };
  const { server } = await openServer(t, { tcp: { address: '127.0.0.1', port: 0, tls } });
  const port = server.tcpPort!;
  const silent: BareClient[] = [];
  for (let count = 0; count < MAX_CONNECTIONS + 5; count++) silent.push(await BareClient.open(t, { port }, NOTHING));
  await silent[MAX_CONNECTIONS - MAX_WAITING_CONNECTIONS]!.closed;
  const session = connect(`https://localhost:${port}`, { ca: certificate, key, cert: certificate });
  t.after(() => session.destroy());
  await once(session, 'remoteSettings');
  assert.equal(silent.at(-1)!.socket.destroyed, false, 'the oldest were closed');
});
