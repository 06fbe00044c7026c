import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { duplexPair } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import { create, toBinary } from '@bufbuild/protobuf';
import { errorCode, PodwrightError, silentLogger } from '@podwright/base';
import { Sandbox } from '../../shim/src/gen/containerd/runtime/sandbox/v1/sandbox_pb.js';
import { TtrpcConnection } from './client.ts';
import { encodeFrame, type Frame, FrameDecoder, frameType } from './frame.ts';
import { RequestSchema } from './gen/ttrpc/request_pb.js';
import { randomNumbers } from './random-numbers.fixture.ts';
import { TtrpcServer } from './server.ts';
import type { TtrpcHandlers } from './service.ts';

const bound = () => AbortSignal.timeout(60_000);
const failsAs = (code: string) => (error: unknown) => errorCode(error) === code;
const unused = async (): Promise<never> => {
  throw new PodwrightError('unimplemented', 'not in this test');
};

describe('ttrpc over a unix socket', () => {
  const directory = mkdtempSync(join(tmpdir(), 'ttrpc-test-'));
  const path = join(directory, 's');
  const server = new TtrpcServer({ logger: silentLogger });
  let aborted: Promise<unknown>;
  let connection: TtrpcConnection;

  before(async () => {
    const cut = Promise.withResolvers<unknown>();
    aborted = cut.promise;
    const handlers: TtrpcHandlers<typeof Sandbox> = {
      createSandbox: unused,
      startSandbox: async ({ sandboxId }) => ({ pid: sandboxId.length }),
      platform: unused,
      stopSandbox: async ({ sandboxId }) => {
        throw new PodwrightError('not_found', `no sandbox ${sandboxId}`);
      },
      waitSandbox: (_request, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            cut.resolve(signal.reason);
            reject(signal.reason);
          });
        }),
      sandboxStatus: async () => ({ info: { big: 'x'.repeat(4 << 20) } }),
      pingSandbox: async () => ({}),
      shutdownSandbox: unused,
      sandboxMetrics: unused,
    };
    server.add(Sandbox, handlers);
    await server.listen(path, 0o600);
    connection = await TtrpcConnection.connect(path, bound());
  });
  after(async () => {
    connection.close();
    await server.close();
    rmSync(directory, { recursive: true });
  });

  test('concurrent calls each receive their own response', async () => {
    const client = connection.client(Sandbox);
    const answers = Array.from({ length: 100 }, (_, index) => client.startSandbox({ sandboxId: 'x'.repeat(index) }));
    assert.deepEqual(
      (await Promise.all(answers)).map(({ pid }) => pid),
      Array.from({ length: 100 }, (_, index) => index),
    );
  });

  test('a request that is already encoded is sent as it is', async () => {
    const { input } = Sandbox.method.startSandbox;
    const request = toBinary(input, create(input, { sandboxId: 'abc' }));
    const { pid } = await connection.call(Sandbox.method.startSandbox, request);
    assert.equal(pid, 3);
    const late = connection.call(Sandbox.method.waitSandbox, new Uint8Array(), { timeoutMs: 30 });
    await assert.rejects(late, /^PodwrightError: containerd.*WaitSandbox: no answer within 30 ms$/);
  });

  test('an error is received with its code and message', async () => {
    await assert.rejects(
      connection.client(Sandbox).stopSandbox({ sandboxId: 'gone' }),
      (error) => errorCode(error) === 'not_found' && /StopSandbox: no sandbox gone/.test(String(error)),
    );
  });

  test('an unknown service or method returns unimplemented', async () => {
    const other = connection.client(Sandbox, { typeName: 'containerd.runtime.sandbox.v9.Sandbox' });
    await assert.rejects(other.pingSandbox({}), failsAs('unimplemented'));
  });

  test('a call has a deadline on both sides', async () => {
    const client = connection.client(Sandbox);
    await assert.rejects(client.waitSandbox({}, { timeoutMs: 30 }), failsAs('deadline_exceeded'));
    assert.equal(errorCode(await aborted), 'deadline_exceeded');
  });

  test('a caller may abort the wait', async () => {
    const stop = new AbortController();
    const waiting = connection.client(Sandbox).waitSandbox({}, { signal: stop.signal, timeoutMs: 0 });
    stop.abort(new PodwrightError('cancelled', 'enough'));
    await assert.rejects(waiting, failsAs('cancelled'));
  });

  test('messages over 4 MiB are rejected in both directions, and the connection remains usable', async () => {
    const client = connection.client(Sandbox);
    await assert.rejects(client.sandboxStatus({}), failsAs('resource_exhausted'));
    await assert.rejects(client.pingSandbox({ sandboxId: 'x'.repeat(4 << 20) }), failsAs('resource_exhausted'));
    await client.pingSandbox({});
  });

  test('all pending and later calls fail when the connection is lost', async () => {
    const lost = await TtrpcConnection.connect(path, bound());
    const client = lost.client(Sandbox);
    const waiting = client.waitSandbox({}, { timeoutMs: 0 });
    lost.close();
    await assert.rejects(waiting, failsAs('cancelled'));
    await assert.rejects(client.pingSandbox({}), failsAs('cancelled'));
    await lost.closed;
    assert.equal(lost.isOpen, false);
    await assert.rejects(TtrpcConnection.connect(join(directory, 'no-socket'), bound()), failsAs('unavailable'));
  });

  test('invalid frames are rejected one by one', async () => {
    const socket = connect(path);
    const frames: Frame[] = [];
    const decoder = new FrameDecoder();
    socket.on('data', (chunk: Buffer) => frames.push(...decoder.push(chunk)));
    const request = toBinary(
      RequestSchema,
      create(RequestSchema, { service: Sandbox.typeName, method: 'PingSandbox' }),
    );
    const oversized = encodeFrame({ streamId: 9, type: frameType.request, flags: 0, data: Buffer.alloc(0) });
    oversized.writeUInt32BE((4 << 20) + 1, 0);
    for (const bytes of [
      encodeFrame({ streamId: 1, type: frameType.request, flags: 2, data: request }),
      encodeFrame({ streamId: 2, type: frameType.request, flags: 0, data: request }),
      encodeFrame({ streamId: 3, type: frameType.data, flags: 1, data: request }),
      encodeFrame({ streamId: 5, type: 77, flags: 0, data: request }),
      encodeFrame({ streamId: 7, type: frameType.request, flags: 0, data: Buffer.from('ff', 'hex') }),
      Buffer.concat([oversized, Buffer.alloc((4 << 20) + 1)]),
      encodeFrame({ streamId: 11, type: frameType.request, flags: 0, data: request }),
    ])
      socket.write(bytes);
    while (frames.length < 7) await once(socket, 'data', { signal: bound() });
    socket.destroy();
    const answers = frames.map(({ streamId, data }) => [streamId, data?.length === 0 ? 'empty' : data?.[3]]);
    assert.deepEqual(Object.fromEntries(answers), { 1: 12, 2: 3, 3: 12, 5: 12, 7: 3, 9: 8, 11: 'empty' });
  });
});

describe('ttrpc with a hostile peer', () => {
  /** Returns frames of a call or its response, with some bytes changed at random and perhaps the end cut off. */
  const damaged = (random: (below: number) => number, type: number): Buffer => {
    const call = { service: Sandbox.typeName, method: 'PingSandbox', timeoutNano: 1n };
    const data = toBinary(RequestSchema, create(RequestSchema, call));
    const frames = Array.from({ length: 3 }, (_, index) =>
      encodeFrame({ streamId: 2 * index + 1, type, flags: 0, data }),
    );
    const bytes = Buffer.concat(frames);
    for (let change = random(4); change >= 0; change--) bytes[random(bytes.length)] = random(256);
    return bytes.subarray(0, bytes.length - random(random(2) === 0 ? 1 : bytes.length));
  };

  test('a server survives any bytes and answers the valid calls', async () => {
    const random = randomNumbers(3);
    const server = new TtrpcServer({ logger: silentLogger });
    const pong = async () => ({});
    const handlers = Object.fromEntries(Sandbox.methods.map(({ localName }) => [localName, pong]));
    server.add(Sandbox, handlers as unknown as TtrpcHandlers<typeof Sandbox>);
    for (let round = 0; round < 200; round++) {
      const [ours, theirs] = duplexPair();
      server.serve(ours);
      theirs.resume().end(damaged(random, frameType.request));
      await once(theirs, 'close', { signal: bound() });
    }
    await server.close();
  });

  test('client calls fail or succeed, whatever bytes are received', async () => {
    const random = randomNumbers(4);
    for (let round = 0; round < 200; round++) {
      const [ours, theirs] = duplexPair();
      const connection = new TtrpcConnection(ours);
      const calls = Array.from({ length: 3 }, () => connection.client(Sandbox).pingSandbox({}, { timeoutMs: 0 }));
      theirs.resume().end(damaged(random, frameType.response));
      const results = await Promise.allSettled(calls);
      for (const result of results)
        if (result.status === 'rejected') assert.notEqual(errorCode(result.reason), 'unknown');
      await connection.closed;
    }
  });
});
