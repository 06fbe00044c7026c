import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContentStore } from '../content/content-store.ts';
import type { SnapshotInfo, Snapshotter } from '../snapshots/snapshotter.ts';
import { ImageUsage } from './image-usage.ts';

test('the disk usage is that of content and layers, on the file system of the snapshots', async () => {
  const content = { list: async () => [{ digest: 'sha256:1', size: 5 }] } as Partial<ContentStore> as ContentStore;
  const layer: SnapshotInfo = { key: 'sha256:2', kind: 'committed', parent: '', createdAtMs: 0 };
  for (const directory of ['/snapshots', undefined]) {
    const methods = { list: async () => [layer], usage: async () => ({ sizeBytes: 7, inodes: 2 }) };
    const snapshotter = { directory, ...methods } as Partial<Snapshotter> as Snapshotter;
    assert.deepEqual(await new ImageUsage({ root: '/root', content, snapshotter }).read(), {
      mountpoint: directory ?? '/root',
      images: { sizeBytes: 12, inodes: 3 },
      containers: { sizeBytes: 0, inodes: 0 },
    });
  }
});
