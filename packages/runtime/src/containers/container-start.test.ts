import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorMessage, noFailpoint, untraced } from '@podwright/base';
import { withoutNri } from '../nri/without-nri.fixture.ts';
import type { ContainerRecord } from '../records/container-record.ts';
import { startContainer } from './container-start.ts';

type Context = Parameters<typeof startContainer>[0];

/** A created container in a ready sandbox. `seen` records the effects of its start. `tasks` overrides calls of the task runtime. */
function created(changes: { tasks?: Partial<Context['tasks']>; failpoint?: Context['failpoint'] } = {}) {
  const config = { security: { pid: { mode: 'container' } }, tty: false, stdin: false, stdinOnce: false };
  const seen = {
    record: { id: 'c', sandboxId: 's', config, logPath: '', state: { phase: 'created' } } as unknown as ContainerRecord,
    deletes: 0,
    logged: [] as unknown[],
    watched: [] as string[],
  };
  const tasks = {
    create: async () => ({ pid: 7 }),
    start: async () => undefined,
    delete: async () => void seen.deletes++,
    ...changes.tasks,
  };
  const context = {
    table: {
      require: () => seen.record,
      get: () => seen.record,
      put: (record: ContainerRecord) => (seen.record = record),
    },
    sandboxes: { get: () => ({ id: 's', config: { runtimeHandler: '' }, state: { phase: 'ready' } }) },
    files: { spec: () => ({ mounts: [], linux: { namespaces: [] } }), bundle: () => '/bundle' },
    tasks,
    clock: { now: () => 1 },
    events: { publish: () => undefined },
    nri: withoutNri,
    exits: { watch: (id: string) => seen.watched.push(id) },
    failpoint: changes.failpoint ?? noFailpoint,
    trace: untraced,
    logger: { error: (what: unknown) => seen.logged.push(what) },
  } as unknown as Context;
  return { seen, start: () => startContainer(context, 'c', AbortSignal.timeout(60_000)) };
}

test('a started container is running and watched, and its task is not deleted', async () => {
  const { seen, start } = created();
  await start();
  assert.deepEqual(seen.record.state, { phase: 'running', pid: 7, startedAtMs: 1 });
  assert.deepEqual([seen.watched, seen.deletes, seen.logged], [['c'], 0, []]);
});

for (const stage of ['task-created', 'task-started']) {
  test(`the task of a start that fails at ${stage} is deleted once, and the container is exited`, async () => {
    const fail = (at: string) => {
      if (at === `container-start/${stage}`) throw new Error('injected failure');
    };
    const { seen, start } = created({ failpoint: fail });
    await assert.rejects(start(), /injected failure/);
    assert.deepEqual([seen.deletes, seen.watched, seen.logged], [1, [], []]);
    assert.ok(seen.record.state.phase === 'exited' && seen.record.state.reason === 'StartError');
  });
}

test('if the task of a failed start cannot be deleted, the error is logged and the container is exited', async () => {
  let deletes = 0;
  const tasks = {
    start: () => Promise.reject(new Error('injected failure')),
    delete: async () => {
      deletes++;
      throw new Error('the kernel is stuck');
    },
  };
  const { seen, start } = created({ tasks });
  await assert.rejects(start(), (error) => {
    assert.match(errorMessage(error), /injected failure/);
    return true;
  });
  assert.equal(deletes, 1);
  assert.deepEqual(seen.logged, [{ container: 'c', left: 'delete the task: the kernel is stuck' }]);
  assert.ok(seen.record.state.phase === 'exited' && /injected failure/.test(seen.record.state.message));
});
