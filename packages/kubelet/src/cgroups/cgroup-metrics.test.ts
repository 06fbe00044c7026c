import assert from 'node:assert/strict';
import { test } from 'node:test';
import { metricsText, Registry } from '@podwright/base';
import type { CgroupDriver } from './cgroup-driver.ts';
import { measuredDriver } from './cgroup-metrics.ts';

test('setting a cgroup counts as create once, then as update until it is destroyed', async () => {
  const registry = new Registry();
  let busy = true;
  const work = async () => undefined;
  const remove = async () => {
    if (busy) throw new Error('busy');
  };
  const driver = { path: (cgroup: string[]) => cgroup.join('/'), set: work, remove, end: work };
  const measured = measuredDriver(driver as unknown as CgroupDriver, registry);
  await measured.set(['pod1'], {});
  await measured.set(['pod1'], {});
  await assert.rejects(measured.remove(['pod1']), /busy/);
  await measured.set(['pod1'], {});
  busy = false;
  await measured.remove(['pod1']);
  await measured.set(['pod1'], {});
  await measured.end(['pod1']);
  const text = await metricsText(registry, () => true);
  const counts = [...text.matchAll(/_count\{operation_type="(\w+)"\} (\d+)/g)].map(([, type, count]) => [type, count]);
  assert.deepEqual(counts, [
    ['create', '2'],
    ['update', '2'],
    ['destroy', '3'],
  ]);
});
