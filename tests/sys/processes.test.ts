import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { test } from 'node:test';
import { waitFor } from '@podwright/base';
import { findProcesses } from '@podwright/host';
import { findByCommandLine, readCommandLine } from '@podwright/system';

const SECONDS = '8642.097531';

test('host programs are found by command line, and processes in other PID namespaces are not read', async (t) => {
  const children: ChildProcess[] = [];
  t.after(() => {
    for (const child of children) child.kill('SIGKILL');
  });
  children.push(spawn('sleep', [SECONDS]), spawn('unshare', ['--pid', '--fork', '--kill-child', 'sleep', SECONDS]));
  const isSleep = async (pid: number) => (await readCommandLine(pid)).join(' ') === `sleep ${SECONDS}`;
  await waitFor(async () => (await findProcesses(isSleep)).length === 2 || undefined, {
    intervalMs: 20,
    signal: t.signal,
  });
  const found = await findByCommandLine(SECONDS, (argv) => argv[0] === 'sleep');
  assert.deepEqual(found, [children[0]!.pid]);
});
