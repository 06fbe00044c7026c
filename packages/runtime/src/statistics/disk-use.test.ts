import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContainerRecord } from '../records/container-record.ts';
import { DiskUse, type DiskUseDependencies } from './disk-use.ts';

const record = { id: 'c1', sandboxId: 's1', state: { phase: 'running' } } as ContainerRecord;

test('concurrent calls for a container share one measurement, and a later call uses its result', async () => {
  const started: ((sizeBytes: number) => void)[] = [];
  const usage = () =>
    new Promise((resolve) => {
      started.push((sizeBytes) => resolve({ sizeBytes, inodes: 1 }));
    });
  const disk = new DiskUse({
    snapshotter: { usage },
    files: { imageVolumes: async () => [], snapshotKey: (id: string) => id },
    containers: { list: () => [] },
    sandboxes: { get: () => undefined },
  } as unknown as DiskUseDependencies);
  const calls = [1, 2, 3, 4, 5].map(() => disk.of(record));
  await new Promise(setImmediate);
  assert.equal(started.length, 1);
  started[0]!(100);
  const sizes = (await Promise.all([...calls, disk.of(record)])).map(({ sizeBytes }) => sizeBytes);
  assert.deepEqual(sizes, Array(6).fill(100));
  assert.equal(started.length, 1);
});
