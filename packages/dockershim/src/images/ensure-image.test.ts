import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { waitFor } from '@podwright/base';
import { findProgram } from '@podwright/host';
import { pauseCommand } from './ensure-image.ts';

const childrenOf = (pid: number | string) =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
const commandOf = (pid: string) => readFileSync(`/proc/${pid}/cmdline`, 'utf8');

test('the pause process made from busybox reaps orphans, and ends on SIGTERM', async (t) => {
  const path = findProgram('busybox');
  if (path === undefined) return t.skip('needs busybox');
  const signal = AbortSignal.timeout(60_000);
  const waiting = { intervalMs: 10, signal };
  const orphan = '(sleep 0.1 &); exec "$@"';
  const init = ['sh', '-c', orphan, 'init', ...pauseCommand('busybox', path)];
  const child = spawn('unshare', ['--pid', '--fork', '--kill-child', ...init], { stdio: 'inherit' });
  t.after(() => void child.kill('SIGKILL'));
  const exited = once(child, 'exit', { signal });
  const first = await waitFor(() => childrenOf(child.pid!)[0], waiting);
  const isReaped = () => {
    const children = childrenOf(first);
    return (children.length === 1 && commandOf(children[0]!).includes('2147483647')) || undefined;
  };
  await waitFor(isReaped, waiting);
  process.kill(Number(first), 'SIGTERM');
  assert.deepEqual(await exited, [0, null]);
});

test('the pause process made from catatonit is its pause mode', () => {
  assert.deepEqual(pauseCommand('catatonit', '/catatonit'), ['/catatonit', '-P']);
});
