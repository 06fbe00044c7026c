import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noFailpoint, SharedWork, waitFor } from '@podwright/base';
import { openDatabase } from '@podwright/metadata';
import type { ContainerRecord } from '../records/container-record.ts';
import { openPodTables } from '../records/pod-tables.ts';
import type { SandboxRecord } from '../records/sandbox-record.ts';
import type { ContainerServiceDependencies } from './container-context.ts';
import { ContainerService } from './container-service.ts';

test('containers of no sandbox are removed at a start, and one that cannot be removed holds up neither start nor others', async () => {
  const { containers: table, sandboxes } = openPodTables(openDatabase(':memory:'), () => assert.fail());
  sandboxes.put({ id: 's', name: 's' } as SandboxRecord);
  const put = (id: string, sandboxId: string) =>
    table.put({ id, name: id, sandboxId, image: {}, config: { mounts: [] }, state: { phase: 'created' } } as never);
  for (const id of ['stuck', 'lost', 'lost-too']) put(id, 'gone');
  put('kept', 's');
  const errors: { container?: string; error?: string }[] = [];
  const service = new ContainerService({
    ...{ table, sandboxes, work: new SharedWork(), failpoint: noFailpoint },
    tasks: { delete: async (id: string) => assert.notEqual(id, 'stuck', 'its process hangs in the kernel') },
    files: { remove: async () => undefined },
    images: { find: () => ({}) },
    events: { publish: () => undefined },
    logger: { error: (fields: object) => errors.push(fields) },
  } as unknown as ContainerServiceDependencies);
  await service.recover();
  const left = (record: ContainerRecord) => [record.id, record.state.phase];
  assert.deepEqual(table.list().map(left), [
    ['stuck', 'removing'],
    ['kept', 'created'],
  ]);
  assert.deepEqual(errors, [{ container: 'stuck', error: 'its process hangs in the kernel' }]);
});

/** A service with the container `c`, which has ended, in the sandbox `s`. */
function withEnded(tasks: Partial<ContainerServiceDependencies['tasks']>) {
  const { containers: table, sandboxes } = openPodTables(openDatabase(':memory:'), () => assert.fail());
  sandboxes.put({ id: 's', name: 's' } as SandboxRecord);
  const record = { id: 'c', name: 'c', sandboxId: 's', image: {}, config: { mounts: [] }, state: { phase: 'exited' } };
  table.put(record as never);
  const told: string[] = [];
  const service = new ContainerService({
    ...{ table, sandboxes, tasks, work: new SharedWork(), failpoint: noFailpoint },
    files: { remove: async () => undefined },
    images: { find: () => ({}) },
    events: { publish: (kind: string) => told.push(kind) },
    logger: { warn: ({ error }: { error: string }) => told.push(error) },
  } as unknown as ContainerServiceDependencies);
  const remove = () => service.remove('c', new AbortController().signal);
  const gone = () =>
    waitFor(() => table.get('c') === undefined || undefined, { intervalMs: 1, signal: AbortSignal.timeout(5000) });
  return { service, table, told, remove, gone };
}

test('a removal is answered when no process is left, and nobody sees the container while the rest is removed', async () => {
  const rest = Promise.withResolvers<void>();
  const { service, table, told, remove, gone } = withEnded({ isEmpty: async () => true, delete: () => rest.promise });
  await remove();
  assert.deepEqual([service.list(), service.find('c'), table.get('c')?.state.phase], [[], undefined, 'removing']);
  assert.deepEqual(told, ['deleted']);
  let podIsGone = false;
  const pod = service.removeAll('s').then(() => (podIsGone = true));
  await remove(); // of one that is not there any more
  assert.ok(!podIsGone, 'the end of its pod waits for the rest');
  rest.resolve();
  await pod;
  await gone();
});

test('a removal is answered after the end of processes that its first one has left behind', async () => {
  const calls: string[] = [];
  const { service, remove, gone } = withEnded({
    isEmpty: async () => false,
    delete: async () => void calls.push('delete'),
  });
  await remove().then(() => calls.push('answer'));
  assert.deepEqual(calls.slice(0, 2), ['delete', 'answer']);
  await gone();
  const stuck = withEnded({ delete: async () => Promise.reject(new Error('it hangs in the kernel')) });
  await assert.rejects(stuck.remove(), /hangs/);
  assert.equal(stuck.service.list().length, 1, 'it is there to be removed again');
  service.close();
});

test('what cannot be removed of a container is told and tried again, and fails the end of its pod', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  let fails = true;
  const deleted = async () => assert.ok(!fails, 'its cgroup is busy');
  const { service, told, table, remove } = withEnded({ isEmpty: async () => true, delete: deleted });
  await remove();
  await assert.rejects(service.removeAll('s'), /busy/);
  const turns = async (until: () => boolean) => {
    for (let turn = 0; turn < 1000 && !until(); turn++) await Promise.resolve();
    assert.ok(until());
  };
  context.mock.timers.tick(30);
  await turns(() => told.length === 2);
  assert.deepEqual(told, ['deleted', 'its cgroup is busy']);
  fails = false;
  context.mock.timers.tick(60_000);
  await turns(() => table.get('c') === undefined);
});
