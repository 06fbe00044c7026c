/** Logs of tasks in shims, which are written by the runtime process: each log's speed depends only on its own disk. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { waitFor } from '@podwright/base';
import type { TaskExit, TaskRuntime } from '../../packages/runtime/src/tasks/task-runtime.ts';
import { makeScratch, openShims, type Scratch, testSpec } from './fixture.ts';

const bound = () => AbortSignal.timeout(60_000);

/** Returns the numbers that a task has written to its log, by stream and in order. */
function contentOf(logPath: string): { stdout: string; stderr: string } {
  const content = { stdout: '', stderr: '' };
  for (const line of readFileSync(logPath, 'utf8').trimEnd().split('\n')) {
    const [, stream, tag, text] = /^\S+ (stdout|stderr) ([FP]) (\d*)$/.exec(line) ?? assert.fail(line);
    content[stream as 'stdout'] += tag === 'F' ? `${text}\n` : text;
  }
  return content;
}

/** Returns the sizes, in bytes, of the gaps in a log of `written`; fails if the log differs in any other way. */
function gapsIn(logged: string, written: string): number[] {
  const gaps: number[] = [];
  let at = 0;
  for (let index = 0; index < logged.length; index++, at++) {
    if (logged[index] === written[at]) continue;
    const found = written.indexOf(logged.slice(index, index + 64), at);
    assert.ok(found !== -1, `${logged.slice(index, index + 64)} after ${written.slice(at - 64, at)}`);
    gaps.push(found - at);
    at = found;
  }
  return at === written.length ? gaps : [...gaps, written.length - at];
}

describe('logs of tasks of shims', () => {
  let scratch: Scratch;
  let tasks: TaskRuntime;
  before(async () => {
    scratch = makeScratch();
    tasks = await openShims(scratch);
  });
  after(async () => {
    tasks.close();
    await scratch.remove();
  });

  const start = async (id: string, script: string, logPath = join(scratch.directory, `${id}.log`)) => {
    const options = { terminal: false, stdin: false, stdinOnce: false, logPath, handler: '' };
    const spec = testSpec(scratch, id, ['sh', '-c', script]);
    await tasks.create({ ...options, id, bundle: join(scratch.directory, 'bundles', id), spec }, bound());
    const exit = new Promise<TaskExit>((resolve) => void tasks.onExit(id, resolve));
    await tasks.start(id);
    return { exit, logPath };
  };

  test('a log on a hung disk blocks its container and nothing else', async () => {
    const fifo = join(scratch.directory, 'stalled.log');
    execFileSync('mkfifo', [fifo]);
    // keeps the FIFO open without reading from it; exits after 30 s, so that the test ends even if everything is blocked
    const reader = spawn('sh', ['-c', 'exec 3< "$0"; exec sleep 30', fifo], { stdio: 'ignore' });
    const exited = once(reader, 'exit');
    const stalled = await start('stalled', 'yes | head -c 1000000; yes | head -c 1000000 >&2', fifo);
    const other = await start('other', 'until [ -e /tmp/go ]; do sleep 0.05; done; echo done');
    const startedMs = performance.now();
    for (let round = 0; round < 20; round++) {
      assert.equal(String((await tasks.execSync('other', ['echo', 'here'], { signal: bound() })).stdout), 'here\n');
      assert.equal((await tasks.state('stalled')).status, 'running');
    }
    await tasks.execSync('other', ['sh', '-c', '> /tmp/go'], { signal: bound() });
    await other.exit;
    const tookMs = performance.now() - startedMs;
    assert.ok(tookMs < 20_000, `20 commands in another task took ${tookMs} ms`);
    assert.match(readFileSync(other.logPath, 'utf8'), /^\S+ stdout F done\n$/);
    reader.kill();
    await exited;
    assert.equal((await stalled.exit).exitCode, 0);
    for (const id of ['stalled', 'other']) await tasks.delete(id);
  });

  test('a log is complete even with heavy simultaneous output on both streams', async () => {
    const { exit, logPath } = await start('loud', 'seq 1 50000 & seq 1 50000 >&2; wait');
    assert.equal((await exit).exitCode, 0);
    const text = contentOf(logPath);
    const whole = Array.from({ length: 50_000 }, (_, index) => `${index + 1}\n`).join('');
    assert.ok(text.stdout === whole, 'stdout');
    assert.ok(text.stderr === whole, 'stderr');
    await tasks.delete('loud');
  });

  test('each kill of the runtime while a task writes loses at most a chunk of its log, and later output is in order', async () => {
    const lines = 200_000;
    const script = `seq 1 1000 ${lines} | while read n; do seq $n $((n + 999)); sleep 0.01; done`;
    const { logPath } = await start('killed', script);
    tasks.close();
    const fixture = new URL('./serve-shims.fixture.ts', import.meta.url).pathname;
    const kills = 8;
    for (let kill = 0; kill < kills; kill++) {
      const sizeBytes = statSync(logPath).size;
      const server = spawn(process.execPath, [fixture, JSON.stringify(scratch)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const ended = once(server, 'exit');
      const grown = () => statSync(logPath).size > sizeBytes + 40_000 * (kill + 1) || undefined;
      await Promise.race([waitFor(grown, { intervalMs: 1, signal: bound() }), ended]);
      server.kill('SIGKILL');
      assert.deepEqual(await ended, [null, 'SIGKILL']);
    }
    tasks = await openShims(scratch);
    await new Promise<TaskExit>((resolve) => void tasks.onExit('killed', resolve));
    const written = Array.from({ length: lines }, (_, index) => `${index + 1}\n`).join('');
    const gaps = gapsIn(contentOf(logPath).stdout, written);
    assert.ok(gaps.length <= kills && gaps.every((sizeBytes) => sizeBytes <= 16 * 1024), `lost ${gaps} bytes`);
    await tasks.delete('killed');
  });

  test('a task whose log was removed is recovered after a restart, and gets a new log on ReopenContainerLog', async () => {
    const directory = join(scratch.directory, 'logs');
    execFileSync('mkdir', [directory]);
    const logPath = join(directory, 'gone.log');
    await start('gone', 'until [ -e /tmp/more ]; do sleep 0.05; done; echo more; sleep 1000', logPath);
    tasks.close();
    execFileSync('rm', ['-r', directory]);
    tasks = await openShims(scratch);
    assert.equal((await tasks.state('gone')).status, 'running');
    await tasks.reopenLog('gone', logPath);
    await tasks.execSync('gone', ['sh', '-c', '> /tmp/more'], { signal: bound() });
    await waitFor(() => / stdout F more\n/.test(readFileSync(logPath, 'utf8')) || undefined, {
      intervalMs: 20,
      signal: bound(),
    });
    await tasks.delete('gone');
  });
});
