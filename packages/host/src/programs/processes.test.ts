import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { findProcesses, listProcesses, parseProcessStart, readProcessStart } from './processes.ts';

test('the first 16 KiB of a long command line are read, dropping an incomplete last argument', async () => {
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

test('reading the environment of a nonexistent process returns nothing', async () => {
  assert.equal((await readProcessStart(2 ** 22 + 1, 'environ')).length, 0);
});

test('findProcesses inspects four processes at a time, skipping those that have exited', async () => {
  let concurrent = 0;
  let most = 0;
  const found = await findProcesses(async (pid) => {
    most = Math.max(most, ++concurrent);
    await readProcessStart(pid, 'cmdline');
    concurrent--;
    if (pid !== process.pid) throw new Error('it has exited');
    return true;
  });
  assert.deepEqual(found, [process.pid]);
  assert.ok(most <= 4, `${most} at once`);
  assert.ok((await listProcesses()).includes(process.pid));
});
