import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import {
  type CallOptions,
  Client,
  credentials,
  type deserialize,
  Metadata,
  Server,
  ServerCredentials,
  type ServiceError,
  status,
  type UntypedHandleCall,
} from '@grpc/grpc-js';
import { ByteBudget, silentLogger, waitFor } from '@podwright/base';
import { parseEndpoint } from '../endpoint.ts';
import type { RawCall } from './raw-call.ts';
import { RawConnection } from './raw-connection.ts';
import { serveRawCalls } from './serve-raw-calls.ts';

const GZIP = { 'grpc.default_compression_algorithm': 2 };
const same = (bytes: Buffer) => bytes;
const decode: deserialize<Buffer> = same;

/** Starts a grpc-js server whose handlers receive and send raw bytes, and a raw proxy in front of that server. */
async function proxied(t: TestContext, handlers: Record<string, UntypedHandleCall>, budget = new ByteBudget(1 << 26)) {
  const directory = await mkdtemp(join(tmpdir(), 'podwright-raw-'));
  t.after(() => rm(directory, { recursive: true }));
  const server = new Server();
  const methods = Object.keys(handlers).map((name) => [
    name,
    {
      path: `/test.Bytes/${name}`,
      requestStream: name === 'both',
      responseStream: name !== 'one',
      requestSerialize: same,
      requestDeserialize: decode,
      responseSerialize: same,
      responseDeserialize: decode,
    },
  ]);
  server.addService(Object.fromEntries(methods), handlers);
  const backend = `unix:${join(directory, 'backend.sock')}`;
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(backend, ServerCredentials.createInsecure(), (error) => (error ? reject(error) : resolve()));
  });
  t.after(() => server.forceShutdown());
  const socket = join(directory, 'proxy.sock');
  const proxy = await serveRawCalls({ socket, logger: silentLogger, requests: budget }, () => {
    const connection = new RawConnection(parseEndpoint(backend));
    return { onCall: (call) => void pass(call, connection), onClose: () => connection.close() };
  });
  t.after(() => proxy.close(0));
  const client = new Client(`unix:${socket}`, credentials.createInsecure(), GZIP);
  t.after(() => client.close());
  return { client, server };
}

async function pass(call: RawCall, connection: RawConnection): Promise<void> {
  try {
    const stream = await connection.begin(call.fields, { signal: call.signal });
    const sending = (async () => {
      for await (const message of call.messages()) await stream.send(message);
      stream.end();
    })();
    sending.catch((error: unknown) => call.fail(error));
    const headers = await stream.headers;
    if (headers !== undefined) call.open(headers);
    for await (const message of stream.messages()) await call.send(message);
    const end = await stream.ended;
    if (end.kind === 'trailers') call.end(end.fields);
    else if (end.kind === 'reset') call.reset(end.code);
    else call.fail(end.error);
  } catch (error) {
    call.fail(error);
  }
}

type Answer = { error: ServiceError | null; value?: Buffer; headers?: Metadata; trailers?: Metadata };

function callOne(client: Client, request: Buffer, metadata = new Metadata(), options: CallOptions = {}) {
  return new Promise<Answer>((resolve) => {
    const answer: Partial<Answer> = {};
    const call = client.makeUnaryRequest('/test.Bytes/one', same, decode, request, metadata, options, (error, value) =>
      Object.assign(answer, { error, value }),
    );
    call.on('metadata', (headers: Metadata) => Object.assign(answer, { headers }));
    call.on('status', ({ metadata: trailers }: { metadata: Metadata }) =>
      resolve(Object.assign(answer, { trailers }) as Answer),
    );
  });
}

test('bytes, metadata, compression and trailers are passed through in both directions', async (t) => {
  const seen: Record<string, unknown>[] = [];
  const { client } = await proxied(t, {
    one: (
      call: { request: Buffer; metadata: Metadata; sendMetadata(data: Metadata): void },
      reply: CallableFunction,
    ) => {
      seen.push(call.metadata.getMap());
      const headers = new Metadata();
      headers.set('x-answer', 'yes');
      call.sendMetadata(headers);
      const trailers = new Metadata();
      trailers.set('x-late-bin', Buffer.of(0, 255, 7));
      reply(null, Buffer.concat([call.request, call.request]), trailers);
    },
  });
  const metadata = new Metadata();
  metadata.set('x-test', 'yes');
  metadata.set('x-test-bin', Buffer.of(1, 2, 254));
  const request = Buffer.alloc(300_000, 'unknown fields');
  const { error, value, headers, trailers } = await callOne(client, request, metadata);
  assert.equal(error, null);
  assert.ok(value!.equals(Buffer.concat([request, request])));
  assert.deepEqual(seen[0]?.['x-test-bin'], Buffer.of(1, 2, 254));
  assert.deepEqual(headers!.get('x-answer'), ['yes']);
  assert.deepEqual(trailers!.get('x-late-bin'), [Buffer.of(0, 255, 7)]);
});

test('errors are passed through with code, message and details', async (t) => {
  const { client } = await proxied(t, {
    one: (_call: object, reply: CallableFunction) => {
      const metadata = new Metadata();
      metadata.set('grpc-status-details-bin', Buffer.from('details'));
      reply({ code: status.RESOURCE_EXHAUSTED, details: '100% full “ü”', metadata });
    },
  });
  const { error } = await callOne(client, Buffer.alloc(0));
  assert.equal(error?.code, status.RESOURCE_EXHAUSTED);
  assert.equal(error.details, '100% full “ü”');
  assert.deepEqual(error.metadata.get('grpc-status-details-bin'), [Buffer.from('details')]);
});

test('a client’s deadline and cancellation reach the server', async (t) => {
  const deadlines: unknown[] = [];
  let cancelled = 0;
  const { client } = await proxied(t, {
    one: (call: { getDeadline(): unknown; on(event: string, listener: () => void): void }) => {
      deadlines.push(call.getDeadline());
      call.on('cancelled', () => cancelled++);
    },
  });
  const { error } = await callOne(client, Buffer.alloc(0), new Metadata(), { deadline: Date.now() + 200 });
  assert.equal(error?.code, status.DEADLINE_EXCEEDED);
  assert.ok(Number(deadlines[0]) - Date.now() < 200);
  await waitFor(async () => (cancelled === 1 ? true : undefined), {
    intervalMs: 5,
    signal: AbortSignal.timeout(4000),
  });
});

test('a conversation of many messages in both directions is passed through', async (t) => {
  const { client } = await proxied(t, {
    both: (call: NodeJS.ReadWriteStream) => {
      call.on('data', (bytes: Buffer) => call.write(Buffer.concat([bytes, bytes])));
      call.on('end', () => call.end());
    },
  });
  const call = client.makeBidiStreamRequest('/test.Bytes/both', same, decode);
  const sizes: number[] = [];
  call.on('data', (bytes: Buffer) => {
    sizes.push(bytes.length);
    if (sizes.length === 3) call.end();
    else call.write(Buffer.alloc(sizes.length * 200_000));
  });
  call.write(Buffer.alloc(1));
  await new Promise((resolve) => call.on('end', resolve));
  assert.deepEqual(sizes, [2, 400_000, 800_000]);
});

test('a server lost during a call, or absent, is unavailable', async (t) => {
  let received = () => {};
  const begun = new Promise<void>((resolve) => {
    received = resolve;
  });
  const { client, server } = await proxied(t, { one: () => received() });
  const lost = callOne(client, Buffer.alloc(0));
  await begun;
  server.forceShutdown();
  assert.equal((await lost).error?.code, status.UNAVAILABLE);
  const { error } = await callOne(client, Buffer.alloc(0));
  assert.equal(error?.code, status.UNAVAILABLE);
  assert.match(error.details, /connect to unix:/);
});

test('requests beyond the budget of all calls are refused', async (t) => {
  const one = (_call: object, reply: CallableFunction) => reply(null, Buffer.alloc(1));
  const { client } = await proxied(t, { one }, new ByteBudget(100_000));
  const { error } = await callOne(client, randomBytes(200_000));
  assert.equal(error?.code, status.RESOURCE_EXHAUSTED);
  assert.equal((await callOne(client, Buffer.alloc(1000))).error, null);
});
