import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { PodwrightError, silentLogger } from '@podwright/base';
import { collectExec } from './collect-exec.ts';

/** A command that has written some output, which a child process keeps open. */
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
  const running = collectExec(exec, time.signal);
  exit(0);
  await exec.exited;
  time.abort(late);
  const { stdout, exitCode } = await running;
  assert.deepEqual([String(stdout), exitCode, kills()], ['out', 0, 0]);
});

test('a command that runs past its deadline is killed', async () => {
  const { exec, kills } = command();
  const time = new AbortController();
  const running = collectExec(exec, time.signal);
  time.abort(late);
  await assert.rejects(running, { code: 'deadline_exceeded' });
  assert.equal(kills(), 1);
});

test('a command whose deadline has passed before it starts is killed', async () => {
  const { exec, kills } = command();
  await assert.rejects(collectExec(exec, AbortSignal.abort(late)), { code: 'deadline_exceeded' });
  assert.equal(kills(), 1);
});
