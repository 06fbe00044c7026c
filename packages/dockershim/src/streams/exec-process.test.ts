import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { test } from 'node:test';
import { isRunning } from '@podwright/system';
import type { EngineExec, ExecInspection } from '../engine/engine-exec.ts';
import { ExecProcess } from './exec-process.ts';

/** An exec whose successive inspections by the Engine return these states; the last one repeats. */
function processOf(...looks: ExecInspection[]): ExecProcess {
  const inspect = async () => (looks.length > 1 ? looks.shift()! : looks[0]!);
  const ids = { containerId: 'cafe'.repeat(16), execId: '1' };
  return new ExecProcess({ inspect } as unknown as EngineExec, ids);
}

const waiting = { Running: false, ExitCode: undefined, Pid: 0 };

test('a process outside the container is not killed, whatever PID the Engine reports', async () => {
  const foreign = spawn('sleep', ['1000']);
  const command = processOf({ Running: true, ExitCode: undefined, Pid: foreign.pid! });
  assert.equal(await command.started(), true);
  await command.kill();
  assert.equal(isRunning(foreign.pid!), true);
  foreign.kill('SIGKILL');
});

test('`started` waits until a command is running, and `ended` until it has exited', async () => {
  assert.equal(await processOf(waiting, waiting, { Running: true, ExitCode: undefined, Pid: 2 ** 30 }).started(), true);
  assert.equal(await processOf(waiting, { Running: false, ExitCode: 126, Pid: 0 }).started(), false);
  const running = { Running: true, ExitCode: undefined, Pid: 2 ** 30 };
  assert.deepEqual(await processOf(running, { ...running, Running: false, ExitCode: 7 }).ended(), {
    ...{ exitCode: 7, hasRun: true },
  });
});
