import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { PodwrightError } from '@podwright/base';
import type { Shim } from '@podwright/shim';
import { readProcess } from '@podwright/system';
import { killExec } from './shim-exec.ts';
import type { ShimTaskRecord } from './shim-task-files.ts';

/** A fake shim whose `kill` fails with `not_found`, as for a process that has exited. */
const shim = {
  tasks: { kill: () => Promise.reject(new PodwrightError('not_found', 'no such process')) },
} as unknown as Shim;
const [cgroup] = readFileSync('/proc/self/cgroup', 'utf8').split('\n');
const cgroupsPath = cgroup!.slice(cgroup!.lastIndexOf(':') + 1);
const record = { id: 'task', cgroupsPath } as ShimTaskRecord;

test('an exec is killed only if its pid still belongs to its process and its task', async () => {
  const child = spawn('sleep', ['1000'], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  const pid = child.pid!;
  const startTicks = readProcess(pid)!.startTicks;
  await killExec(shim, record, { id: 'exec', pid, startTicks: startTicks - 1 });
  await killExec(shim, record, { id: 'exec', pid, startTicks: undefined });
  await killExec(shim, { ...record, cgroupsPath: '/another' }, { id: 'exec', pid, startTicks });
  assert.equal(readProcess(pid)?.state === 'Z', false, 'another process of the task lives');
  await killExec(shim, record, { id: 'exec', pid, startTicks });
  assert.deepEqual(await ended, [null, 'SIGKILL']);
});
