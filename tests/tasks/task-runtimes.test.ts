import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { errorCode, silentLogger } from '@podwright/base';
import { commitSpec } from '../../packages/runtime/src/tasks/bundle.ts';
import type { TaskExit, TaskRuntime } from '../../packages/runtime/src/tasks/task-runtime.ts';
import { TaskRuntimes } from '../../packages/runtime/src/tasks/task-runtimes.ts';
import { Shims } from '../../packages/shim/src/shims.ts';
import { makeScratch, openShimTasks, openTasks, runc, testSpec } from './fixture.ts';

const bound = () => AbortSignal.timeout(60_000);

test('a task is created by its handler’s runtime, and stays there when the handlers change', async () => {
  const scratch = makeScratch();
  const open = async (names: [string, string][]) => {
    const shims = await Shims.open({ state: join(scratch.directory, 'shims'), logger: silentLogger });
    const [oci, shim] = [await openTasks(scratch, runc), await openShimTasks(scratch, shims)];
    const runtimes = new Map<string, TaskRuntime>([
      ['oci', oci],
      ['shim', shim],
    ]);
    const tasks = new TaskRuntimes({ runtimes, handlers: new Map(names) });
    const close = async () => {
      tasks.close();
      await shims.close();
    };
    return { tasks, oci, shim, close };
  };
  const config = (id: string, handler: string) => {
    const [bundle, spec] = [join(scratch.directory, 'bundles', id), testSpec(scratch, id, ['sleep', '1000'])];
    commitSpec(bundle, spec);
    return { id, handler, bundle, spec, terminal: false, stdin: false, stdinOnce: false, logPath: '' };
  };
  const failsAs = (code: string) => (error: unknown) => errorCode(error) === code;

  const { tasks, oci, shim, close } = await open([
    ['', 'oci'],
    ['boxed', 'shim'],
  ]);
  try {
    for (const [id, handler] of [['plain', ''] as const, ['boxed', 'boxed'] as const]) {
      await tasks.create(config(id, handler), bound());
      await tasks.start(id);
    }
    assert.deepEqual([await oci.list(), await shim.list()], [['plain'], ['boxed']]);
    await assert.rejects(tasks.create(config('boxed', ''), bound()), failsAs('already_exists'));
    await assert.rejects(tasks.create(config('other', 'unknown'), bound()), failsAs('invalid_argument'));
  } finally {
    await close();
  }

  const later = await open([['', 'oci']]);
  try {
    assert.deepEqual((await later.tasks.list()).sort(), ['boxed', 'plain']);
    const exit = new Promise<TaskExit>((resolve) => void later.tasks.onExit('boxed', resolve));
    assert.equal(
      String((await later.tasks.execSync('boxed', ['echo', 'here'], { signal: AbortSignal.timeout(60_000) })).stdout),
      'here\n',
    );
    assert.equal((await later.tasks.state('boxed')).status, 'running');
    const use = await later.tasks.use('boxed');
    assert.ok(use?.processes === 1 && (use.cpu?.usageNanoseconds ?? 0) > 0 && (use.memory?.usageBytes ?? 0) > 0);
    assert.equal(await later.tasks.use('plain'), undefined); // its usage is measured by its cgroup
    for (const id of ['boxed', 'plain']) await later.tasks.delete(id);
    assert.equal((await exit).exitCode, 137);
    assert.deepEqual(await later.tasks.list(), []);
    assert.equal((await later.tasks.state('boxed')).status, 'absent');
    await assert.rejects(later.tasks.start('boxed'), failsAs('not_found'));
    await later.tasks.delete('boxed');
  } finally {
    await later.close();
    await scratch.remove();
  }
});
