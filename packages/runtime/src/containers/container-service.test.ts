import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noFailpoint, SharedWork, waitFor } from '@podwright/base';
import { openDatabase } from '@podwright/metadata';
import { withoutNri } from '../nri/without-nri.fixture.ts';
import type { ContainerRecord } from '../records/container-record.ts';
import { openPodTables } from '../records/pod-tables.ts';
import type { SandboxRecord } from '../records/sandbox-record.ts';
import type { ContainerServiceDependencies } from './container-context.ts';
import { ContainerService } from './container-service.ts';

test('containers without a sandbox are removed at startup, and a failed removal blocks neither the start nor other removals', async () => {
  const { containers: table, sandboxes } = openPodTables(openDatabase(':memory:'), () => assert.fail());
  sandboxes.put({ id: 's', name: 's' } as SandboxRecord);
  const put = (id: string, sandboxId: string) =>
    table.put({ id, name: id, sandboxId, image: {}, config: { mounts: [] }, state: { phase: 'created' } } as never);
  for (const id of ['stuck', 'lost', 'lost-too']) put(id, 'removed');
  put('kept', 's');
  const errors: { container?: string; error?: string }[] = [];
  const service = new ContainerService({
    ...{ table, sandboxes, work: new SharedWork(), failpoint: noFailpoint },
    tasks: { delete: async (id: string) => assert.notEqual(id, 'stuck', 'its process hangs in the kernel') },
    files: { remove: async () => undefined },
    images: { find: () => ({}) },
    events: { publish: () => undefined },
    nri: withoutNri,
    logger: { error: (fields: object) => errors.push(fields) },
  } as unknown as ContainerServiceDependencies);
  await service.recover();
  const idAndPhase = (record: ContainerRecord) => [record.id, record.state.phase];
  assert.deepEqual(table.list().map(idAndPhase), [
    ['stuck', 'removing'],
    ['kept', 'created'],
  ]);
  assert.deepEqual(errors, [{ container: 'stuck', error: 'its process hangs in the kernel' }]);
});

/** A service with the exited container `c` in the sandbox `s`. `reports` collects published events and logged warnings. */
function withExited(tasks: Partial<ContainerServiceDependencies['tasks']>) {
  const { containers: table, sandboxes } = openPodTables(openDatabase(':memory:'), () => assert.fail());
  sandboxes.put({ id: 's', name: 's' } as SandboxRecord);
  const record = { id: 'c', name: 'c', sandboxId: 's', image: {}, config: { mounts: [] }, state: { phase: 'exited' } };
  table.put(record as never);
  const reports: string[] = [];
  const service = new ContainerService({
    ...{ table, sandboxes, tasks, work: new SharedWork(), failpoint: noFailpoint },
    files: { remove: async () => undefined },
    images: { find: () => ({}) },
    events: { publish: (kind: string) => reports.push(kind) },
    nri: withoutNri,
    logger: { warn: ({ error }: { error: string }) => reports.push(error) },
  } as unknown as ContainerServiceDependencies);
  const remove = () => service.remove('c', new AbortController().signal);
  const removed = () =>
    waitFor(() => table.get('c') === undefined || undefined, { intervalMs: 1, signal: AbortSignal.timeout(5000) });
  return { service, table, reports, remove, removed };
}

test('a removal returns once no process is left, and the container is hidden while the rest is removed', async () => {
  const rest = Promise.withResolvers<void>();
  const deletion = { isEmpty: async () => true, delete: () => rest.promise };
  const { service, table, reports, remove, removed } = withExited(deletion);
  await remove();
  assert.deepEqual([service.list(), service.find('c'), table.get('c')?.state.phase], [[], undefined, 'removing']);
  assert.deepEqual(reports, ['deleted']);
  let podIsRemoved = false;
  const pod = service.removeAll('s').then(() => (podIsRemoved = true));
  await remove(); // a hidden container counts as removed
  assert.ok(!podIsRemoved, 'the removal of its pod waits for the rest');
  rest.resolve();
  await pod;
  await removed();
});

test('a removal returns only after processes that outlive the container’s init have exited', async () => {
  const calls: string[] = [];
  const { service, remove, removed } = withExited({
    isEmpty: async () => false,
    delete: async () => void calls.push('delete'),
  });
  await remove().then(() => calls.push('answer'));
  assert.deepEqual(calls.slice(0, 2), ['delete', 'answer']);
  await removed();
  const stuck = withExited({ delete: async () => Promise.reject(new Error('it hangs in the kernel')) });
  await assert.rejects(stuck.remove(), /hangs/);
  assert.equal(stuck.service.list().length, 1, 'it is still listed, so that the caller can retry');
  service.close();
});

test('a failure to remove the rest is logged and retried, and fails the removal of the pod', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  let fails = true;
  const deleted = async () => assert.ok(!fails, 'its cgroup is busy');
  const { service, reports, table, remove } = withExited({ isEmpty: async () => true, delete: deleted });
  await remove();
  await assert.rejects(service.removeAll('s'), /busy/);
  const turns = async (until: () => boolean) => {
    for (let turn = 0; turn < 1000 && !until(); turn++) await Promise.resolve();
    assert.ok(until());
  };
  context.mock.timers.tick(30);
  await turns(() => reports.length === 2);
  assert.deepEqual(reports, ['deleted', 'its cgroup is busy']);
  fails = false;
  context.mock.timers.tick(60_000);
  await turns(() => table.get('c') === undefined);
});
