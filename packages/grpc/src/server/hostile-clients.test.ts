/** Clients that violate the protocol are disconnected, without affecting other clients. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { type Logger, silentLogger, sleep, waitFor } from '@podwright/base';
import { CLIENT_PREFACE, FRAME_TYPE, frame, headersFrames, numberFrame } from '../http2/frames.ts';
import { encodeLiterals } from '../http2/hpack-encoder.ts';
import { MAX_CONNECTION_IDLE_MS, PREFACE_TIMEOUT_MS } from '../limits.ts';
import { BareClient, callFrames, requestHeaders, SETTINGS, startServer } from './bare-client.fixture.ts';
import { begun, bytes, call, many, NOTHING, reset, VIOLATIONS } from './violations.fixture.ts';

const { data, headers, settings, ping, goAway, windowUpdate } = FRAME_TYPE;

/** Names of HTTP/2 error codes, by the number that clients receive. */
const CODES: Record<number, string> = {
  1: 'PROTOCOL',
  3: 'FLOW_CONTROL',
  6: 'FRAME_SIZE',
  9: 'COMPRESSION',
  11: 'CALM',
};

test('a client that violates the protocol receives the reason and loses its connection, and no other client does', async (t) => {
  const never = () => new Promise<never>(() => undefined);
  const lines: string[] = [];
  const logger: Logger = { ...silentLogger, info: (fields) => void lines.push(JSON.stringify(fields)) };
  const path = await startServer(t, { handlers: { echo: async () => ({}), wait: never }, logger });
  const good = await BareClient.open(t, path);
  for (const [what, frames, code] of VIOLATIONS) {
    const bad = await BareClient.open(t, path);
    bad.send(...frames);
    const end = await bad.end();
    assert.ok(end !== 'nothing', what);
    assert.equal(CODES[end.code], code, `${what}: ${end.why}`);
    assert.ok(lines.pop()?.includes(end.why), what);
  }
  good.send(call(1));
  assert.equal((await good.reply(1)).status, '0');
});

test('a client that does not speak HTTP/2 is disconnected at the first wrong byte', async (t) => {
  const path = await startServer(t);
  for (const first of [
    'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r?',
    'x',
    '\x16\x03\x01',
  ]) {
    const client = await BareClient.open(t, path, Buffer.from(first, 'latin1'));
    await client.closed;
  }
  const unset = await BareClient.open(t, path, Buffer.concat([CLIENT_PREFACE, call(1)]));
  assert.deepEqual(await unset.end(), { code: 1, why: 'HTTP/2: no settings' });
});

test('a client without a preface is disconnected, and an idle client receives GOAWAY', async (t) => {
  const path = await startServer(t);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const silent = await BareClient.open(t, path, NOTHING);
  const half = await BareClient.open(t, path, CLIENT_PREFACE);
  const idle = await BareClient.open(t, path);
  for (const one of [silent, half, idle]) await settled(one);
  idle.send(frame({ type: ping }, bytes(8)));
  await next(idle, ({ type }) => type === ping);
  t.mock.timers.tick(PREFACE_TIMEOUT_MS);
  assert.deepEqual(await Promise.all([silent.end(), half.end()]), ['nothing', 'nothing']);
  t.mock.timers.tick(MAX_CONNECTION_IDLE_MS);
  await next(idle, ({ type }) => type === goAway);
  assert.deepEqual(await idle.end(), { code: 0, why: '' });
});

/** Waits until the client has received a matching frame. Does not set a timer, unlike `BareClient.frame`. */
async function next(client: BareClient, isIt: (one: ReturnType<BareClient['frames']>[0]) => boolean): Promise<void> {
  while (!client.frames().some(isIt)) await once(client.socket, 'data');
}
const settled = (client: BareClient) => next(client, () => true);

/**
 * Floods the server with the frames of one round after another, from a client that never reads, until the server disconnects the client.
 */
async function assertFloodEnds(t: TestContext, frames: (round: number) => Buffer): Promise<void> {
  const client = await BareClient.open(t, await startServer(t));
  client.socket.pause();
  let isClosed = false;
  client.socket.once('error', () => {
    isClosed = true;
  });
  client.socket.once('close', () => {
    isClosed = true;
  });
  const deadline = performance.now() + 30_000;
  for (let round = 0; !isClosed; round++) {
    assert.ok(performance.now() < deadline, 'the connection is still open');
    if (!client.socket.write(frames(round)))
      await Promise.race([once(client.socket, 'drain'), client.closed]).catch(() => undefined);
    await new Promise(setImmediate);
  }
}

test('a client that floods the server and never reads is disconnected', async (t) => {
  const floods: Record<string, (round: number) => Buffer> = {
    pings: () => Buffer.concat(many(1000, () => frame({ type: ping }, bytes(8)))),
    settings: () => Buffer.concat(many(1000, () => SETTINGS)),
    'invalid requests': (round) =>
      Buffer.concat(
        many(1000, (index) =>
          headersFrames(Buffer.of(0x82), { streamId: 2 * (1000 * round + index) + 1, endStream: true }),
        ),
      ),
  };
  for (const frames of Object.values(floods)) await assertFloodEnds(t, frames);
});

test('a client that resets more than a thousand calls at once is disconnected', async (t) => {
  const path = await startServer(t);
  const patient = await BareClient.open(t, path);
  patient.send(...many(900, (index) => Buffer.concat([begun(2 * index + 1), reset(2 * index + 1)])));
  patient.send(call(9001));
  assert.equal((await patient.reply(9001)).status, '0');
  patient.send(...many(300, (index) => Buffer.concat([begun(2 * index + 9003), reset(2 * index + 9003)])));
  assert.deepEqual(await patient.end(), { code: 11, why: 'HTTP/2: too many calls were cut' });
});

test('unread request data beyond the stream’s window ends the connection', async (t) => {
  const client = await BareClient.open(t, await startServer(t));
  // the client's flow-control window of 0 bytes blocks the first response, so the handler does not read the second request yet
  client.send(frame({ type: settings }, Buffer.from('000400000000', 'hex')));
  client.send(headersFrames(encodeLiterals(reflection), { streamId: 1, endStream: false }));
  client.send(frame({ type: data, streamId: 1 }, bytes(5)));
  await client.frame(({ type }) => type === headers);
  await sleep(100);
  client.send(...many(4, () => frame({ type: data, streamId: 1 }, bytes(16_384))));
  assert.deepEqual(await client.end(), { code: 3, why: 'HTTP/2: more than the window of a stream' });
});

const reflection = requestHeaders('').map(([name, value]): [string, string] => [
  name,
  name === ':path' ? '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo' : value,
]);

test('unread responses keep their calls running, up to a thousand calls', async (t) => {
  let answered = 0;
  const echo = async () => {
    answered++;
    return { text: 'x'.repeat(100_000) };
  };
  const path = await startServer(t, { handlers: { echo } });
  const client = await BareClient.open(t, path);
  client.socket.pause();
  client.send(
    numberFrame({ type: windowUpdate }, 0x7fff0000),
    frame({ type: settings }, Buffer.from('00047fffffff', 'hex')),
  );
  for (let id = 1; id < 8000; id += 2) client.socket.write(call(id));
  await waitFor(() => answered >= 1000 || undefined, { intervalMs: 10, signal: AbortSignal.timeout(20_000) });
  const other = await BareClient.open(t, path);
  other.send(callFrames(1, requestHeaders('Wait'), NOTHING));
  assert.equal((await other.reply(1)).status, '12');
  assert.ok(answered < 1100, `${answered} answers`);
});
