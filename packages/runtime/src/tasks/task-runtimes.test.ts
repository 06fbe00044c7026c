import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TaskConfig, TaskRuntime } from './task-runtime.ts';
import { TaskRuntimes } from './task-runtimes.ts';

/** A fake task runtime whose tasks have these IDs. `listed` counts the calls of `list`. */
function fakeRuntime(name: string, ids: string[], { canHas = true } = {}) {
  const runtime = {
    name,
    listed: 0,
    create: async ({ id }: TaskConfig) => ({ pid: ids.push(id) }),
    delete: async (id: string) => void ids.splice(ids.indexOf(id), 1),
    list: async () => {
      runtime.listed++;
      return ids;
    },
    ...(canHas && { has: async (id: string) => ids.includes(id) }),
  };
  return runtime;
}

function combine(...runtimes: ReturnType<typeof fakeRuntime>[]): TaskRuntimes {
  const byName = new Map(runtimes.map((runtime) => [runtime.name, runtime as unknown as TaskRuntime]));
  return new TaskRuntimes({ runtimes: byName, handlers: new Map([['', runtimes[0]!.name]]) });
}

const create = (tasks: TaskRuntimes, id: string) =>
  tasks.create({ id, handler: '' } as TaskConfig, new AbortController().signal);

test('create and delete list only the tasks of runtimes that cannot look up a single ID', async () => {
  const [oci, shim, plugin] = [
    fakeRuntime('oci', []),
    fakeRuntime('shim', ['other']),
    fakeRuntime('plugin', ['third'], { canHas: false }),
  ];
  const tasks = combine(oci, shim, plugin);
  await create(tasks, 'new');
  await tasks.delete('new');
  assert.deepEqual([oci.listed, shim.listed, plugin.listed], [0, 0, 1]);
  for (const id of ['other', 'third']) await assert.rejects(create(tasks, id), { code: 'already_exists' });
});
