import assert from 'node:assert/strict';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { ByteBudget, PodwrightError, silentLogger } from '@podwright/base';
import { collectExec } from './collect-exec.ts';
import type { ExecSyncOptions } from './task-runtime.ts';

/** Creates a fake command that has exited after writing some output, with its streams kept open by a child process. */
function command() {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  stdout.write('out');
  const { promise: exited, resolve: exit } = Promise.withResolvers<number>();
  let killed = 0;
  const kill = async () => {
    killed++;
    exit(137);
    stdout.end();
    stderr.end();
  };
  const pid = () => Promise.resolve(7);
  return {
    exec: { what: 'run it', stdout, stderr, exited, pid, kill, logger: silentLogger },
    exit,
    kills: () => killed,
  };
}

const late = new PodwrightError('deadline_exceeded', 'the deadline has passed');

test('the exit code of a command is returned even if a child keeps its output open past the deadline', async () => {
  const { exec, exit, kills } = command();
  const time = new AbortController();
  const running = collectExec(exec, { signal: time.signal });
  exit(0);
  await exec.exited;
  time.abort(late);
  const { stdout, exitCode } = await running;
  assert.deepEqual([String(stdout), exitCode, kills()], ['out', 0, 0]);
});

test('a command that runs past its deadline is killed', async () => {
  const { exec, kills } = command();
  const time = new AbortController();
  const running = collectExec(exec, { signal: time.signal });
  time.abort(late);
  await assert.rejects(running, { code: 'deadline_exceeded' });
  assert.equal(kills(), 1);
});

test('a command whose deadline has passed before it starts is killed', async () => {
  const { exec, kills } = command();
  await assert.rejects(collectExec(exec, { signal: AbortSignal.abort(late) }), { code: 'deadline_exceeded' });
  assert.equal(kills(), 1);
});

/** Collects the output of `count` commands that each write `sizeBytes` bytes to both stdout and stderr. Returns the collected sizes. */
async function sizesOf(count: number, sizeBytes: number, options: Omit<ExecSyncOptions, 'signal'>): Promise<number[]> {
  const commands = Array.from({ length: count }, async () => {
    const { exec, exit } = command();
    const running = collectExec(exec, { signal: AbortSignal.timeout(60_000), ...options });
    for (const stream of [exec.stdout, exec.stderr]) {
      for (let sent = 0; sent < sizeBytes; sent += 1 << 16) {
        if (!stream.write(Buffer.alloc(1 << 16))) await once(stream, 'drain');
      }
      stream.end();
    }
    exit(0);
    const { stdout, stderr } = await running;
    return [stdout.length, stderr.length];
  });
  return (await Promise.all(commands)).flat();
}

test('the output is truncated at the size that the caller uses', async () => {
  assert.deepEqual(await sizesOf(1, 1 << 20, { maxOutputBytes: 5000 }), [5000, 5000]);
  assert.deepEqual(await sizesOf(1, 17 << 20, { maxOutputBytes: Number.POSITIVE_INFINITY }), [16 << 20, 16 << 20]);
});

test('the output of concurrent commands stays within the memory limit, and each keeps its beginning', async () => {
  const memory = new ByteBudget(1 << 20).open();
  const sizes = await sizesOf(10, 1 << 20, { memory });
  const sum = sizes.reduce((total, size) => total + size, 0);
  assert.ok(sum > 1 << 19 && sum <= (1 << 20) + 20 * 4096, `${sum} bytes`);
  assert.ok(Math.min(...sizes) >= 4096, `${Math.min(...sizes)} bytes`);
});
