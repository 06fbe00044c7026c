import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { runChecked } from '../programs/program.ts';
import { listenUnix, refuseTakenSocket, removeStaleSocket } from './unix-socket.ts';

async function scratch(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'podwright-socket-'));
  t.after(() => rm(directory, { recursive: true }));
  return directory;
}

function newServer(t: TestContext): Server {
  const server = createServer((socket) => socket.on('error', () => undefined).end('hello'));
  t.after(() => server.close());
  return server;
}

async function leaveStaleSocket(path: string): Promise<void> {
  const script = `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`;
  await assert.rejects(runChecked(process.execPath, ['-e', script]), /SIGKILL/);
}

async function answers(path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  connect(path)
    .once('data', () => resolve(true))
    .once('error', () => resolve(false));
  return promise;
}

test('listening on a free path creates the socket with its mode, and no other file', async (t) => {
  const directory = await scratch(t);
  const path = join(directory, 'a.sock');
  const file = await listenUnix(newServer(t), path, 0o640);
  assert.equal((await stat(path)).mode & 0o777, 0o640);
  assert.equal(await answers(path), true);
  assert.deepEqual(await readdir(directory), ['a.sock']);
  await file.remove();
  assert.deepEqual(await readdir(directory), []);
});

test('a dead daemon’s socket is replaced', async (t) => {
  const directory = await scratch(t);
  const path = join(directory, 'a.sock');
  await leaveStaleSocket(path);
  assert.equal(await answers(path), false);
  await listenUnix(newServer(t), path, 0o600);
  assert.equal(await answers(path), true);
  assert.deepEqual(await readdir(directory), ['a.sock']);
});

test('a running daemon’s socket is left alone', async (t) => {
  const path = join(await scratch(t), 'a.sock');
  await listenUnix(newServer(t), path, 0o600);
  await assert.rejects(listenUnix(newServer(t), path, 0o600), {
    code: 'already_exists',
    message: `listen on ${path}: a running daemon already answers there; stop it or choose another socket`,
  });
  await assert.rejects(refuseTakenSocket(path), { code: 'already_exists' });
  assert.equal(await answers(path), true);
});

test('refuseTakenSocket accepts a free path and a stale socket', async (t) => {
  const path = join(await scratch(t), 'a.sock');
  await refuseTakenSocket(path);
  await leaveStaleSocket(path);
  await refuseTakenSocket(path);
});

test('a file other than a socket is left alone', async (t) => {
  const path = join(await scratch(t), 'a.sock');
  await writeFile(path, 'precious');
  await assert.rejects(listenUnix(newServer(t), path, 0o600), { code: 'failed_precondition', message: /not a socket/ });
});

test('if several daemons start on a stale socket, one gets it and the others get already_exists', async (t) => {
  const directory = await scratch(t);
  const path = join(directory, 'a.sock');
  await leaveStaleSocket(path);
  const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => listenUnix(newServer(t), path, 0o600)));
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
  for (const outcome of outcomes)
    if (outcome.status === 'rejected') assert.equal(outcome.reason.code, 'already_exists');
  assert.equal(await answers(path), true);
  assert.deepEqual(await readdir(directory), ['a.sock']);
});

test('a daemon that stops late does not remove its successor’s socket', async (t) => {
  const path = join(await scratch(t), 'a.sock');
  const first = newServer(t);
  const file = await listenUnix(first, path, 0o600);
  first.close();
  await listenUnix(newServer(t), path, 0o600);
  await file.remove();
  assert.equal(await answers(path), true);
});

test('errors name the path if it is too long or its directory is missing', async (t) => {
  const directory = await scratch(t);
  const missing = join(directory, 'missing', 'a.sock');
  await assert.rejects(listenUnix(newServer(t), missing, 0o600), { message: new RegExp(`^listen on ${missing}: `) });
  const long = join(directory, `${'x'.repeat(100 - directory.length)}/s`);
  await assert.rejects(listenUnix(newServer(t), long, 0o600), { code: 'invalid_argument', message: /too long/ });
});

test('a dead daemon’s socket is removed unless another daemon is replacing it, and other files are left alone', async (t) => {
  const directory = await scratch(t);
  const names = ['stale', 'live', 'file', 'none'];
  const sweep = async () => {
    for (const name of names) await removeStaleSocket(join(directory, name));
    return (await readdir(directory)).sort();
  };
  await leaveStaleSocket(join(directory, 'stale'));
  await listenUnix(newServer(t), join(directory, 'live'), 0o600);
  await writeFile(join(directory, 'file'), '');
  const { dev, ino } = await stat(directory);
  const digest = createHash('sha256').update(`${dev} ${ino} stale`).digest('hex');
  const lock = newServer(t).listen(`\0podwright-${digest}`);
  await once(lock, 'listening');
  assert.deepEqual(await sweep(), ['file', 'live', 'stale']);
  await new Promise((resolve) => lock.close(resolve));
  assert.deepEqual(await sweep(), ['file', 'live']);
});
