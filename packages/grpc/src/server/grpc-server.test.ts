import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
} from 'node:http2';
import { connect as connectSocket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { silentLogger, sleep, statusNumber } from '@podwright/base';
import { Test } from '../gen/podwright/test/v1/test_pb.js';
import { MAX_MESSAGE_BYTES } from '../limits.ts';
import { withPrefix } from '../message-reader.ts';
import { type CallContext, handleService } from './handlers.ts';
import { serveServices } from './serve-services.ts';

const ECHO = '/podwright.test.v1.Test/Echo';
const EMPTY = withPrefix(Buffer.alloc(0));

/** Connects node:http2 to a server, to make calls that no gRPC client would make. */
async function open(t: TestContext, wait = async () => ({})): Promise<ClientHttp2Session> {
  return (await openAt(t, wait)).session;
}

async function openAt(t: TestContext, wait = async () => ({})) {
  const directory = await mkdtemp(join(tmpdir(), 'podwright-grpc-'));
  const socket = join(directory, 'cri.sock');
  const echo = async () => ({ text: '0.1.0' });
  const handlers = { echo, wait };
  const server = await serveServices([handleService(Test, handlers)], { socket, logger: silentLogger });
  const session = connect('http://localhost', { createConnection: () => connectSocket(socket) });
  t.after(async () => {
    session.destroy();
    await server.close(0);
    await rm(directory, { recursive: true });
  });
  return { socket, session };
}

function begin(session: ClientHttp2Session, headers: Record<string, string> = {}): ClientHttp2Stream {
  return session.request({ ':method': 'POST', ':path': ECHO, 'content-type': 'application/grpc', ...headers });
}

/** Waits until a call has ended. Returns its HTTP status and its gRPC status, if any. */
async function ended(stream: ClientHttp2Stream): Promise<{ http: number; code?: number; message?: string }> {
  const headers: IncomingHttpHeaders = {};
  for (const event of ['response', 'trailers']) stream.on(event, (more) => Object.assign(headers, more));
  stream.resume();
  await once(stream, 'close', { signal: AbortSignal.timeout(30_000) });
  const { 'grpc-status': code, 'grpc-message': message } = headers as Record<string, string | undefined>;
  return { http: Number(headers[':status']), ...(code && { code: Number(code), message: decodeURI(message ?? '') }) };
}

test('invalid requests are rejected, and the connection remains usable', async (t) => {
  const session = await open(t);
  const check = async (headers: Record<string, string>, body: Buffer, expected: RegExp | 'answered') => {
    const stream = begin(session, headers);
    stream.end(body);
    const { http, code = -1, message = '' } = await ended(stream);
    const found = code === 0 ? 'answered' : `${http} ${code} ${message}`;
    if (expected === 'answered') assert.equal(found, expected);
    else assert.match(found, expected);
  };
  const unimplemented = statusNumber('unimplemented');
  await check({}, EMPTY, 'answered');
  await check({ 'content-type': 'application/grpc+proto' }, EMPTY, 'answered');
  await check({ 'content-type': 'text/html' }, EMPTY, /^415 /);
  await check({ ':path': '/podwright.test.v2.Test/Echo' }, EMPTY, RegExp(`^200 ${unimplemented} .*test.v2`));
  await check({ ':path': '/toString' }, EMPTY, RegExp(`^200 ${unimplemented} `));
  await check({}, Buffer.alloc(0), RegExp(`^200 ${unimplemented} .*without a message`));
  await check({}, Buffer.concat([EMPTY, EMPTY]), RegExp(`^200 ${unimplemented} .* several messages`));
  await check({ 'grpc-encoding': 'gzip' }, Buffer.from([1, 0, 0, 0, 0]), RegExp(`^200 ${unimplemented} compressed`));
  await check({}, withPrefix(Buffer.from([0xff])), RegExp(`^200 ${statusNumber('invalid_argument')} decode`));
  const untimely = RegExp(`^200 ${statusNumber('invalid_argument')} grpc-timeout`);
  for (const timeout of ['1', 'S', '-1S', '123456789S', '1x'])
    await check({ 'grpc-timeout': timeout }, EMPTY, untimely);
  await check({ 'grpc-timeout': '99999999H' }, EMPTY, 'answered');
});

test('an oversized request is rejected before it has been received completely', async (t) => {
  const session = await open(t);
  const stream = begin(session);
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(MAX_MESSAGE_BYTES + 1, 1);
  stream.write(prefix);
  const [headers] = (await once(stream, 'response', { signal: AbortSignal.timeout(30_000) })) as [IncomingHttpHeaders];
  assert.equal(Number(headers['grpc-status']), statusNumber('resource_exhausted'));
  stream.end(Buffer.alloc(1 << 20)); // more than the window: the server must consume it, or the connection stalls
  await ended(stream);
  const next = begin(session);
  next.end(EMPTY);
  assert.equal((await ended(next)).code, 0);
});

test('a call’s deadline also limits the wait for its request', async (t) => {
  const session = await open(t);
  const stream = begin(session, { 'grpc-timeout': '50m' });
  const [headers] = (await once(stream, 'response', { signal: AbortSignal.timeout(30_000) })) as [IncomingHttpHeaders];
  assert.equal(Number(headers['grpc-status']), statusNumber('deadline_exceeded'));
  stream.end();
  await ended(stream);
});

test('a client’s reset aborts the handler, and also ends a call without a request', async (t) => {
  const begun = new EventEmitter();
  const left = new EventEmitter();
  const wait = async (_request?: unknown, context?: CallContext) => {
    begun.emit('call');
    await sleep(60_000, context!.signal).finally(() => left.emit('call'));
    return {};
  };
  const session = await open(t, wait);
  const bound = { signal: AbortSignal.timeout(30_000) };
  const path = { ':path': '/podwright.test.v1.Test/Wait' };
  for (let round = 0; round < 3; round++) {
    const unsent = begin(session, path);
    const stream = begin(session, path);
    const working = once(begun, 'call', bound);
    stream.end(EMPTY);
    await working;
    const gone = once(left, 'call', bound);
    for (const each of [unsent, stream]) each.close(constants.NGHTTP2_CANCEL);
    await gone;
  }
  const last = begin(session);
  last.end(EMPTY);
  assert.equal((await ended(last)).code, 0);
});

/** Encodes an HTTP/2 frame for a stream (RFC 9113, 4.1). */
function frame(type: number, { flags, id }: { flags: number; id: number }, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(id, 5);
  return Buffer.concat([head, payload]);
}

/** Encodes a header as an HPACK literal, for names and values shorter than 127 bytes. */
const literal = (name: string, value: string): Buffer =>
  Buffer.concat([Buffer.from([0, name.length]), Buffer.from(name), Buffer.from([value.length]), Buffer.from(value)]);

test('streams that are reset immediately do not affect other connections', async (t) => {
  const { socket, session } = await openAt(t);
  const opened = [':method:POST', ':scheme:http', ':authority:localhost', `:path:${ECHO}`];
  const attack = connectSocket(socket);
  attack.on('error', () => undefined);
  attack.write(
    Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(4, { flags: 0, id: 0 }, Buffer.alloc(0))]),
  );
  const settings = once(attack, 'data', { signal: AbortSignal.timeout(30_000) });
  await settings;
  const types = ['text/html', 'application/grpc'];
  const frames = types.flatMap((type, index) => {
    const id = 2 * index + 1;
    const fields = [...opened, `content-type:${type}`].map((field) => {
      const at = field.indexOf(':', 1);
      return literal(field.slice(0, at), field.slice(at + 1));
    });
    return [frame(1, { flags: 4, id }, Buffer.concat(fields)), frame(3, { flags: 0, id }, Buffer.from([0, 0, 0, 8]))];
  });
  attack.write(Buffer.concat(frames));
  await sleep(1500); // longer than frames before the first request are held back
  attack.destroy();
  const next = begin(session);
  next.end(EMPTY);
  assert.equal((await ended(next)).code, 0);
});
