import assert from 'node:assert/strict';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { waitFor } from '@podwright/base';
import type { RemoteProcess } from '../remote-process.ts';
import { type CommandStreams, runSession } from './session.ts';

const eventually = (condition: () => boolean) =>
  waitFor(() => (condition() ? true : undefined), { intervalMs: 2, signal: AbortSignal.timeout(60_000) });

function client(over: Partial<CommandStreams> = {}) {
  const leaves = new AbortController();
  const ends = {
    stdin: new PassThrough(),
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    error: new PassThrough(),
  };
  const resize = new PassThrough();
  const streams: CommandStreams = { ...ends, resize, structuredStatus: true, gone: leaves.signal, ...over };
  return { ...ends, resize, leaves, streams };
}

/** Creates a process controlled by the test, which counts calls of `close`. */
function process() {
  const { promise: exit, resolve, reject } = Promise.withResolvers<number>();
  const ends = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() };
  const seen = { closed: 0, sizes: [] as number[] };
  const remote: RemoteProcess = {
    ...ends,
    exit,
    resize: (columns) => seen.sizes.push(columns),
    close: () => seen.closed++,
  };
  return { ...ends, remote, seen, end: resolve, fail: reject };
}

const status = async (stream: Readable) => JSON.parse(await text(stream)) as { status: string; message?: string };

test('all output is forwarded before the exit code, even to a slow client', async () => {
  const [here, there] = [client(), process()];
  let ended = false;
  here.error.once('data', () => {
    ended = true;
  });
  const session = runSession(async () => there.remote, here.streams);
  there.stdout.end(Buffer.alloc(1 << 20));
  there.stderr.end('err');
  there.end(0);
  let read = 0;
  for await (const chunk of here.stdout as AsyncIterable<Buffer>) {
    assert.equal(ended, false);
    read += chunk.length;
    await new Promise((resolve) => setImmediate(resolve));
  }
  here.stderr.resume();
  await session;
  assert.deepEqual([read, ended, there.seen.closed], [1 << 20, true, 1]);
});

test('the exit code is sent when the process has exited, even if its output is still open', async () => {
  const [here, there] = [client(), process()];
  const session = runSession(async () => there.remote, here.streams);
  there.stdout.end();
  there.stderr.end();
  here.stdout.resume();
  here.stderr.resume();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(here.error.readableLength, 0);
  there.end(3);
  await session;
  assert.match(JSON.stringify(await status(here.error)), /"ExitCode","message":"3"/);
});

test('a client disconnect ends the session, but not the input of the process', async () => {
  const [here, there] = [client(), process()];
  const session = runSession(async () => there.remote, here.streams);
  here.stdin.write('line');
  await eventually(() => there.stdin.readableLength === 4);
  here.leaves.abort();
  here.stdin.end();
  await session;
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual([there.stdin.writableEnded, there.seen.closed], [false, 1]);
});

test('a process is closed if the client disconnects during its start', async () => {
  const [here, there] = [client(), process()];
  const { promise: started, resolve } = Promise.withResolvers<RemoteProcess>();
  const session = runSession(() => started, here.streams);
  here.leaves.abort();
  await new Promise((tick) => setImmediate(tick));
  resolve(there.remote);
  await session;
  assert.equal(there.seen.closed, 1);
});

test('the output of a process is discarded if the client disconnects during its start', async () => {
  const [here, there] = [client(), process()];
  const { promise: started, resolve } = Promise.withResolvers<RemoteProcess>();
  const session = runSession(() => started, here.streams);
  here.leaves.abort();
  here.stdout.destroy();
  here.stderr.destroy();
  await new Promise((tick) => setImmediate(tick));
  for (let round = 0; round < 50; round++) there.stdout.write(Buffer.alloc(16 << 10));
  resolve(there.remote);
  await session;
  there.stderr.end('words');
  await eventually(() => there.stdout.writableLength === 0 && there.stderr.readableEnded);
});

test('the end of the client input ends the process input', async () => {
  const [here, there] = [client(), process()];
  void runSession(async () => there.remote, here.streams);
  here.stdin.end('all');
  assert.equal(await text(there.stdin), 'all');
  here.leaves.abort();
});

test('input that the process does not read is discarded', async () => {
  const [here, there] = [client(), process()];
  void runSession(async () => there.remote, here.streams);
  there.stdin.destroy(new Error('EPIPE'));
  for (let round = 0; round < 50; round++) here.stdin.write(Buffer.alloc(16 << 10));
  await eventually(() => here.stdin.writableLength === 0 && here.stdin.readableLength === 0);
  here.leaves.abort();
});

test('output that the client does not accept is discarded, so that the process does not block', async () => {
  const stdouts: (Writable | undefined)[] = [undefined, new PassThrough()];
  for (const stdout of stdouts) {
    const [here, there] = [client({ stdout }), process()];
    const session = runSession(async () => there.remote, here.streams);
    stdout?.destroy();
    for (let round = 0; round < 50; round++) there.stdout.write(Buffer.alloc(16 << 10));
    await eventually(() => there.stdout.writableLength === 0);
    there.stdout.end();
    there.stderr.end();
    here.stderr.resume();
    there.end(0);
    await session;
    assert.equal((await status(here.error)).status, 'Success');
  }
});

test('a failed start and an unknown exit code are reported', async () => {
  const here = client();
  await runSession(async () => {
    throw new Error('no such container');
  }, here.streams);
  assert.equal((await status(here.error)).message, 'no such container');
  const [again, there] = [client(), process()];
  there.fail(new Error('the monitor died'));
  await runSession(async () => there.remote, again.streams);
  assert.equal((await status(again.error)).message, 'the monitor died');
  assert.equal(there.seen.closed, 1);
});

test('before v4 a success is an empty status and a failure is plain text', async () => {
  for (const [exitCode, words] of [
    [0, ''],
    [2, 'command terminated with non-zero exit code: exit status 2'],
  ] as const) {
    const [here, there] = [client({ structuredStatus: false }), process()];
    for (const name of ['stdout', 'stderr'] as const) {
      there[name].end();
      here[name].resume();
    }
    there.end(exitCode);
    await runSession(async () => there.remote, here.streams);
    assert.equal(await text(here.error), words);
  }
});

test('sizes reach the process, and a failed resize does not end the session', async () => {
  const [here, there] = [client(), process()];
  there.remote.resize = (columns) => {
    there.seen.sizes.push(columns);
    throw new Error('no terminal any more');
  };
  void runSession(async () => there.remote, here.streams);
  here.resize.write('{"Width":80,"Height":24}');
  here.resize.write('{"Width":100,"Height":24}');
  await eventually(() => there.seen.sizes.length === 2);
  here.leaves.abort();
});
