import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { errorCode, waitFor } from '@podwright/base';
import { isRunning } from '@podwright/system';
import { commitSpec } from '../../packages/runtime/src/tasks/bundle.ts';
import type { TaskRuntime } from '../../packages/runtime/src/tasks/task-runtime.ts';
import { makeScratch, newMark, openTasks, processesWith, runc, type Scratch, testSpec } from './fixture.ts';

const bound = () => AbortSignal.timeout(60_000);

async function start(
  scratch: Scratch,
  tasks: TaskRuntime,
  { id, args }: { id: string; args: string[] },
): Promise<void> {
  const config = { id, bundle: join(scratch.directory, 'bundles', id), spec: testSpec(scratch, id, args) };
  const options = { terminal: false, stdin: false, stdinOnce: false, logPath: '', handler: '' };
  commitSpec(config.bundle, config.spec);
  await tasks.create({ ...config, ...options }, bound());
  await tasks.start(id);
}

test('a damaged record is rebuilt by the next start, and its task keeps running and can be used and removed completely', async () => {
  const scratch = makeScratch();
  const mark = newMark();
  const before = await openTasks(scratch, runc);
  await start(scratch, before, { id: 'damaged', args: ['sleep', mark] });
  before.close();
  const path = join(scratch.directory, 'state/records/damaged.json');
  const record = readFileSync(path, 'utf8');
  writeFileSync(path, record.slice(0, 40));
  const tasks = await openTasks(scratch, runc);
  try {
    assert.deepEqual(JSON.parse(readFileSync(path, 'utf8')), JSON.parse(record));
    assert.equal((await tasks.state('damaged')).status, 'running');
    assert.equal(String((await tasks.execSync('damaged', ['echo', 'here'], { signal: bound() })).stdout), 'here\n');
    await tasks.delete('damaged');
    assert.deepEqual([await tasks.list(), processesWith(mark)], [[], []]);
  } finally {
    tasks.close();
    await scratch.remove();
  }
});

test('a damaged record that cannot be rebuilt fails neither the start nor other tasks, and is logged with its path', async () => {
  const scratch = makeScratch();
  const before = await openTasks(scratch, runc);
  await start(scratch, before, { id: 'whole', args: ['sleep', '1000'] });
  await start(scratch, before, { id: 'damaged', args: ['sleep', '1000'] });
  before.close();
  const path = join(scratch.directory, 'state/records/damaged.json');
  const record = readFileSync(path, 'utf8');
  writeFileSync(path, record.slice(0, 40));
  rmSync(join(scratch.directory, 'state/bundles/damaged/config.json')); // the source for rebuilding the record
  writeFileSync(join(scratch.directory, 'state/execs/damaged:1'), '1'); // the record of an interrupted command
  const tasks = await openTasks(scratch, runc);
  try {
    assert.deepEqual((await tasks.list()).sort(), ['damaged', 'whole']);
    assert.equal((await tasks.state('whole')).status, 'running');
    for (const call of [() => tasks.state('damaged'), () => tasks.delete('damaged')])
      await assert.rejects(call(), (error) => errorCode(error) === 'data_loss' && String(error).includes(path));
    await tasks.delete('whole');
    writeFileSync(path, record);
    await tasks.delete('damaged');
  } finally {
    tasks.close();
    await scratch.remove();
  }
});

test('a task whose monitor died while no runtime was running is killed when the next runtime starts', async () => {
  const scratch = makeScratch();
  const mark = newMark();
  const before = await openTasks(scratch, runc);
  await start(scratch, before, { id: 'lost', args: ['sleep', mark] });
  before.close();
  const monitor = Number(readFileSync(join(scratch.directory, 'state/bundles/lost/conmon.pid'), 'utf8'));
  process.kill(monitor, 'SIGKILL');
  await waitFor(() => !isRunning(monitor) || undefined, { intervalMs: 1, signal: bound() }); // may take time on a busy host
  const tasks = await openTasks(scratch, runc);
  try {
    const ended = () => processesWith(mark).length === 0 || undefined;
    await waitFor(ended, { intervalMs: 10, signal: bound() });
    assert.ok(existsSync(join(scratch.directory, 'state/exits/lost')));
    const state = await tasks.state('lost');
    assert.match((state.status === 'exited' && state.exit.message) || '', /monitor of the container died/);
    await tasks.delete('lost');
  } finally {
    tasks.close();
    await scratch.remove();
  }
});

test('a monitor reports the task’s exit before its own: none of 100 polled tasks is considered dead', async () => {
  const scratch = makeScratch();
  const tasks = await openTasks(scratch, runc);
  const live = async (id: string) => {
    await start(scratch, tasks, { id, args: ['sh', '-c', 'exit 3'] });
    const look = async () => {
      const state = await tasks.state(id);
      return state.status === 'exited' ? state.exit : undefined;
    };
    const exit = await waitFor(look, { intervalMs: 0, signal: bound() });
    assert.deepEqual([exit.exitCode, exit.message], [3, undefined]);
    await tasks.delete(id);
  };
  try {
    for (let round = 0; round < 25; round++)
      await Promise.all(Array.from({ length: 4 }, (_, index) => live(`short-${round}-${index}`)));
  } finally {
    tasks.close();
    await scratch.remove();
  }
});
