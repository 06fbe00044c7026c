import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { withTimeout } from '@podwright/base';
import { cgroupPids, discoverCgroups } from '@podwright/host';
import { commitSpec } from '../../packages/runtime/src/tasks/bundle.ts';
import type { TaskRuntimeHarness } from '../../packages/runtime/src/tasks/task-runtime.suite.ts';
import type { TaskExit, TaskRuntime } from '../../packages/runtime/src/tasks/task-runtime.ts';
import { freeze, moveToFreezer } from '../fixtures/freezer.ts';
import { runc, shimHarness, taskHarness, workingCrun } from './fixture.ts';

const cgroups = await discoverCgroups();
const bound = () => AbortSignal.timeout(60_000);

/**
 * Starts a task and a command in it, moves a child of the task to a nested cgroup, and freezes the task's cgroup with all its descendants.
 */
async function startFrozen(context: TestContext, harness: TaskRuntimeHarness) {
  const tasks = await harness.open();
  context.after(async () => {
    tasks.close();
    await harness.remove();
  });
  const config = harness.config('frozen', ['sh', '-c', `sleep ${harness.mark} & wait`]);
  const { cgroupsPath } = config.spec.linux;
  commitSpec(config.bundle, config.spec);
  const { pid } = await tasks.create(config, bound());
  await tasks.start(config.id);
  const command = await tasks.exec(config.id, { command: ['sleep', harness.mark], terminal: false, signal: bound() });
  const [child] = (await cgroupPids(cgroups, cgroupsPath, { recursive: true })).filter((one) => one !== pid);
  moveToFreezer(cgroups, `${cgroupsPath}/inner`, child!);
  for (const path of [`${cgroupsPath}/inner`, cgroupsPath]) await freeze(cgroups, path);
  return { tasks, id: config.id, command };
}

const exitOf = (tasks: TaskRuntime, id: string) =>
  new Promise<TaskExit>((resolve, reject) => {
    tasks.onExit(id, resolve);
    const limited = withTimeout(undefined, 20_000, `wait for the exit of task ${id}`);
    limited.addEventListener('abort', () => reject(limited.reason));
  });

const runtimes = {
  crun: () => taskHarness(workingCrun),
  runc: () => taskHarness(async () => runc),
  'a shim': () => shimHarness(),
};

for (const [name, prepare] of Object.entries(runtimes)) {
  test(`SIGKILL ends a frozen task, its commands, and frozen cgroups below it (${name})`, async (context) => {
    const harness = await prepare();
    const { tasks, id, command } = await startFrozen(context, harness);
    const exit = exitOf(tasks, id);
    await tasks.kill(id, 'SIGTERM');
    await tasks.kill(id, 'SIGKILL', { all: true });
    assert.equal((await exit).exitCode, 137);
    assert.equal((await command.exit).exitCode, 137);
    await tasks.delete(id);
    assert.deepEqual(harness.processesWith(harness.mark), []);
  });

  test(`a frozen task is deleted (${name})`, async (context) => {
    const harness = await prepare();
    const { tasks, id } = await startFrozen(context, harness);
    await tasks.delete(id);
    assert.deepEqual(harness.processesWith(harness.mark), []);
    assert.deepEqual(await tasks.state(id), { status: 'absent' });
  });
}
