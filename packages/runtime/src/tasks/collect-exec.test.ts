import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { PodwrightError, silentLogger } from '@podwright/base';
import { collectExec } from './collect-exec.ts';

/** A command that has written something, and whose output stays open, as a child of it holds it. */
function command() {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  stdout.write('said');
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

const late = new PodwrightError('deadline_exceeded', 'its time is over');

test('the exit code of a command is the answer, although a child holds its output when its time is over', async () => {
  const { exec, exit, kills } = command();
  const time = new AbortController();
  const running = collectExec(exec, time.signal);
  exit(0);
  await exec.exited;
  time.abort(late);
  const { stdout, exitCode } = await running;
  assert.deepEqual([String(stdout), exitCode, kills()], ['said', 0, 0]);
});

test('a command that runs when its time is over is killed', async () => {
  const { exec, kills } = command();
  const time = new AbortController();
  const running = collectExec(exec, time.signal);
  time.abort(late);
  await assert.rejects(running, { code: 'deadline_exceeded' });
  assert.equal(kills(), 1);
});

test('a command whose time is over before it began is killed', async () => {
  const { exec, kills } = command();
  await assert.rejects(collectExec(exec, AbortSignal.abort(late)), { code: 'deadline_exceeded' });
  assert.equal(kills(), 1);
});
