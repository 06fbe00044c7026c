import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { silentLogger, waitFor } from '@podwright/base';
import { openDatabase } from '@podwright/metadata';
import { sha256Digest } from '../content/digest.ts';
import type { Snapshotter } from '../snapshots/snapshotter.ts';
import { DiskSync } from './disk-sync.ts';
import { ImageRecords, type NewImage } from './image-records.ts';

const root = mkdtempSync(join(tmpdir(), 'podwright-sync-'));
after(() => rmSync(root, { recursive: true }));

/** Returns a single-layer image. Its ID is also the layer's chain ID. */
function imageOf(name: string): NewImage {
  const id = sha256Digest(name);
  const config = { architecture: 'amd64', os: 'linux', config: {}, rootfs: { type: 'layers', diff_ids: [id] } };
  const noNames = { tags: [], digests: [], isLoaded: false };
  return { id, manifestDigest: id, config, chain: [id], content: [], sizeBytes: 0, ...noNames };
}

test('an image removed during a sync does not prevent syncing the others', async () => {
  const database = openDatabase(join(root, 'metadata.db'));
  after(() => database.close());
  const records = new ImageRecords(database, 'boot');
  for (const name of ['removed', 'stays']) records.put(imageOf(name));
  const { id: removed } = imageOf('removed');
  assert.equal(records.list().length, 2);
  const layerDirectory = async (chainId: string) => {
    records.remove(removed);
    return chainId === removed ? join(root, 'missing') : root;
  };
  const snapshotter = { layerDirectory } as Partial<Snapshotter> as Snapshotter;
  const warned: unknown[] = [];
  const logger = { ...silentLogger, warn: (...entry: unknown[]) => warned.push(entry) };
  new DiskSync({ root, records, snapshotter, logger }).begin();
  const synced = () => records.list().every(({ unsyncedBoot }) => unsyncedBoot === '') || undefined;
  await waitFor(synced, { intervalMs: 10, signal: AbortSignal.timeout(60_000) });
  assert.deepEqual(
    records.list().map(({ id }) => id),
    [imageOf('stays').id],
  );
  assert.deepEqual(warned, []);
});

test('a sync does not access the records after close', async () => {
  const database = openDatabase(join(root, 'closed.db'));
  const records = new ImageRecords(database, 'boot');
  records.put(imageOf('app'));
  const { promise: called, resolve: noteCall } = Promise.withResolvers<void>();
  const { promise: directory, resolve: resolveDirectory } = Promise.withResolvers<string>();
  const layerDirectory = () => {
    noteCall();
    return directory;
  };
  const snapshotter = { layerDirectory } as Partial<Snapshotter> as Snapshotter;
  const sync = new DiskSync({ root, records, snapshotter, logger: silentLogger });
  sync.begin();
  await called;
  sync.close();
  database.close();
  resolveDirectory(root); // an error would be an unhandled rejection, which fails the test
  await new Promise(setImmediate);
});

test('a sync closed before it starts reads no records', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const records = { list: () => assert.fail('closed') } as unknown as ImageRecords;
  const sync = new DiskSync({ root, records, snapshotter: {} as Snapshotter, logger: silentLogger });
  sync.begin();
  sync.close();
  context.mock.timers.tick(60_000);
  await new Promise(setImmediate); // an unhandled rejection by now fails the test
});
