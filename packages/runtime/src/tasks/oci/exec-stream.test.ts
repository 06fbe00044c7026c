import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { closeSync, existsSync, linkSync, mkdtempSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { silentLogger } from '@podwright/base';
import type { ProgramStarter, StartedProgram } from '@podwright/host';
import { loadSystem } from '@podwright/system';
import { execSync } from './exec-process.ts';
import { execStream } from './exec-stream.ts';

const directory = mkdtempSync(join(tmpdir(), 'exec-stream-'));
after(() => rmSync(directory, { recursive: true }));
const system = loadSystem();

/** Creates an exec whose OCI runtime is a fake process; the test emits its events. */
function fakeExec() {
  const config = join(directory, 'config.json');
  const pidFile = join(directory, 'pid');
  writeFileSync(config, JSON.stringify({ process: { args: [] } }));
  const stdio = [new PassThrough(), new PassThrough(), new PassThrough()];
  const child = Object.assign(new EventEmitter(), { pid: undefined, exitCode: null, signalCode: null, stdio });
  const start: ProgramStarter = () => child as unknown as StartedProgram;
  const runtime = { name: 'runc', path: 'runc', root: directory };
  const request = { start, runtime, pidFile, id: 'a', command: ['true'], config, system, logger: silentLogger };
  return { request, child, stdio, pidFile };
}

test('a program that fails to start leaves no files', async () => {
  const { request, child, pidFile } = fakeExec();
  const starting = execStream(request, { terminal: undefined, signal: AbortSignal.timeout(60_000) });
  child.emit('error', new Error('spawn runc ENOENT'));
  await assert.rejects(starting, /ENOENT/);
  assert.ok(!existsSync(`${pidFile}.json`));
});

test('a program whose start throws leaves no files', async () => {
  const { request, pidFile } = fakeExec();
  const start: ProgramStarter = () => {
    throw new Error('too many open files');
  };
  const signal = AbortSignal.timeout(60_000);
  await assert.rejects(execStream({ ...request, start }, { terminal: undefined, signal }), /too many open files/);
  assert.ok(!existsSync(`${pidFile}.json`));
  await assert.rejects(execSync({ ...request, start }, { signal }), /too many open files/);
  assert.ok(!existsSync(`${pidFile}.json`));
});

test('the streams of a program that fails to start are closed', async () => {
  const { request, child, stdio } = fakeExec();
  const starting = execStream(request, { terminal: undefined, signal: AbortSignal.timeout(60_000) });
  child.emit('error', new Error('spawn runc ENOENT'));
  await assert.rejects(starting, /ENOENT/);
  assert.deepEqual(
    stdio.map(({ destroyed }) => destroyed),
    [true, true, true],
  );
});

test('an aborted command rejects with the reason, even if it fails to start', async () => {
  const { request, child } = fakeExec();
  const client = new AbortController();
  const starting = execStream(request, { terminal: undefined, signal: client.signal });
  client.abort(new Error('the client left'));
  child.emit('error', new Error('spawn runc ENOENT'));
  await assert.rejects(starting, { message: 'the client left' });
});

test('a command that exits before its pid is read counts as run', async () => {
  const { request, child, stdio, pidFile } = fakeExec();
  const slowFile = join(directory, 'slow');

  system.makeFifo(pidFile, 0o600); // a reader blocks until it is closed below
  linkSync(pidFile, slowFile);
  const starting = execStream(request, { terminal: undefined, signal: AbortSignal.timeout(60_000) });
  const slow = openSync(slowFile, 'w');
  writeFileSync(`${pidFile}.new`, '4194305');
  renameSync(`${pidFile}.new`, pidFile);
  for (const stream of stdio) stream.end();
  child.emit('exit', 0, null);
  await delay(50);
  closeSync(slow);

  const session = await starting;
  assert.deepEqual(await session.exit, { exitCode: 0 });
  assert.ok(!existsSync(pidFile) && !existsSync(`${pidFile}.json`));
});
