import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { findProcesses, listProcesses, parseProcessStart, readProcessStart } from './processes.ts';

test('of a long command line the first 16 KiB are read, and an argument that is cut is left out', async () => {
  const child = spawn('sleep', ['100', ...Array<string>(2_000).fill('123456789')], { argv0: 'sleep', stdio: 'ignore' });
  await once(child, 'spawn');
  try {
    const start = await readProcessStart(child.pid!, 'cmdline');
    assert.equal(start.length, 16 * 1024);
    const argv = parseProcessStart(start);
    assert.deepEqual(argv.slice(0, 3), ['sleep', '100', '123456789']);
    assert.equal(argv.length, 2 + Math.floor((16 * 1024 - 'sleep 100 '.length) / 10));
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
});

test('of a process that is gone nothing is read', async () => {
  assert.equal((await readProcessStart(2 ** 22 + 1, 'environ')).length, 0);
});

test('processes are asked for a few at a time, and one that has ended meanwhile is none', async () => {
  let asked = 0;
  let most = 0;
  const found = await findProcesses(async (pid) => {
    most = Math.max(most, ++asked);
    await readProcessStart(pid, 'cmdline');
    asked--;
    if (pid !== process.pid) throw new Error('it has ended');
    return true;
  });
  assert.deepEqual(found, [process.pid]);
  assert.ok(most <= 4, `${most} at once`);
  assert.ok((await listProcesses()).includes(process.pid));
});
