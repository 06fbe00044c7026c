/**
 * An unprivileged local user keeps opening as many connections to the streaming server as it accepts, to block other users' execs. TCP does
 * not identify clients, so the test itself can connect.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { waitFor } from '@podwright/base';
import { RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';
import { collect, StreamingPod, Visitor } from '../streaming/streaming-pod.fixture.ts';

/** More connections than the server accepts from clients that have not sent a token. */
const CONNECTIONS = 1100;

const runtime = new RuntimeUnderTest();
let pod: StreamingPod;
let port = 0;
const held = new Set<Socket>();

before(async () => {
  await runtime.start();
  const { cri, image, place } = runtime;
  pod = await new StreamingPod({ cri, image, logDirectory: place.logs, end: async () => undefined }).start();
  port = Number(new URL(await pod.exec('true')).port);
});
after(async () => {
  for (const socket of held) socket.destroy();
  assert.deepEqual(await runtime.end(), []);
});

/** Opens a connection, sends `bytes`, and keeps it open. */
async function hold(bytes: string): Promise<void> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  held.add(socket);
  socket.once('close', () => held.delete(socket)).resume();
  await once(socket, 'connect', { signal: AbortSignal.timeout(30_000) });
  socket.write(bytes);
}

async function assertExecs(): Promise<void> {
  const { exitCode, out } = await collect(await pod.exec('echo served'));
  assert.deepEqual([exitCode, out.toString()], [0, 'served\n']);
}

test('an exec succeeds while others hold 1,100 connections open, whatever they have sent', async () => {
  const said = ['', 'POST / HT', 'POST /exec/x HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n'];
  for (let count = 0; count < CONNECTIONS; count++) await hold(said[count % said.length]!);
  assert.ok(held.size > 0);
  await assertExecs();
});

test('execs succeed while others connect as fast as they can, and running sessions are not closed', async () => {
  const visitor = new Visitor(await pod.exec('while read line; do echo "got $line"; done', { stdin: true }), {
    stdin: true,
  });
  let floods = true;
  let opened = 0;
  const flood = async () => {
    for (; floods; opened++) await hold('').catch(() => undefined);
  };
  const flooding = Promise.all(Array.from({ length: 20 }, flood));
  const until = (count: number) =>
    waitFor(async () => opened > count || undefined, { intervalMs: 10, signal: AbortSignal.timeout(60_000) });
  await until(CONNECTIONS);
  for (let round = 0; round < 5; round++) await assertExecs();
  await until(2 * CONNECTIONS);
  visitor.stdin.write('hello\n');
  await waitFor(async () => visitor.output === 'got hello\n' || undefined, {
    intervalMs: 10,
    signal: AbortSignal.timeout(20_000),
  });
  floods = false;
  await flooding;
  visitor.leave();
});

test('a connection with repeated requests without a token is closed', async () => {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  const closed = once(socket.resume(), 'close', { signal: AbortSignal.timeout(20_000) });
  const asking = setInterval(() => socket.write('GET /exec/unknown HTTP/1.1\r\nHost: x\r\n\r\n'), 100);
  await closed.finally(() => clearInterval(asking));
});

test('idle connections held open are closed after a while', async () => {
  const none = async () => held.size === 0 || undefined;
  await waitFor(none, { intervalMs: 100, signal: AbortSignal.timeout(30_000) });
});
