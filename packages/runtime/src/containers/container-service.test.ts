import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noFailpoint, SharedWork } from '@podwright/base';
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
