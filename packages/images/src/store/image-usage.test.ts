import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContentStore } from '../content/content-store.ts';
import type { SnapshotInfo, Snapshotter } from '../snapshots/snapshotter.ts';
import { ImageUsage } from './image-usage.ts';

const layer: SnapshotInfo = { key: 'sha256:2', kind: 'committed', parent: '', createdAtMs: 0 };

/** Measures content in `contentAt` and a layer of a snapshotter with the directory `directory`. */
function read(contentAt: string, directory: string | undefined) {
  const list = async () => [{ digest: 'sha256:1', size: 5 }];
  const content = { directory: contentAt, list } as Partial<ContentStore> as ContentStore;
  const methods = { list: async () => [layer], usage: async () => ({ sizeBytes: 7, inodes: 2 }) };
  const snapshotter = { directory, ...methods } as Partial<Snapshotter> as Snapshotter;
  return new ImageUsage({ root: '/', content, snapshotter }).read();
}

test('the disk usage is that of content and layers, on the file system of the snapshots', async () => {
  for (const directory of ['/etc', undefined]) {
    assert.deepEqual(await read('/usr', directory), {
      mountpoint: directory ?? '/',
      images: { sizeBytes: 12, inodes: 3 },
      containers: { sizeBytes: 0, inodes: 0 },
    });
  }
});

test('content on another file system than the snapshots is not counted', async () => {
  const { mountpoint, images } = await read('/proc', '/usr');
  assert.deepEqual([mountpoint, images], ['/usr', { sizeBytes: 7, inodes: 2 }]);
});
