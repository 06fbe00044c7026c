import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { openDatabase } from '@podwright/metadata';
import { ContentStore } from '../content/content-store.ts';
import { chainIds, sha256Digest } from '../content/digest.ts';
import type { SnapshotInfo, Snapshotter } from '../snapshots/snapshotter.ts';
import { ImageRecords } from './image-records.ts';
import { recoverImages } from './image-recover.ts';
import type { LayerSnapshots, LayerStep } from './layer-snapshots.ts';

/** Fake snapshots of layers. `isSound`: whether the snapshot was unpacked since the power failure. */
class FakeLayers {
  readonly all = new Map<string, { parent: string; isSound: boolean }>();

  async has(chainId: string): Promise<boolean> {
    return this.all.has(chainId);
  }

  async removeIf(chainId: string): Promise<boolean> {
    return ![...this.all.values()].some(({ parent }) => parent === chainId) && this.all.delete(chainId);
  }

  async unpack({ chainId, parentChainId: parent }: LayerStep): Promise<void> {
    if (!this.all.has(chainId)) this.all.set(chainId, { parent, isSound: true });
  }
}

const MEDIA = 'application/vnd.oci.image';

async function start(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), 'podwright-recover-'));
  t.after(() => rmSync(root, { recursive: true }));
  const database = openDatabase(':memory:');
  t.after(() => database.close());
  const content = await ContentStore.open(root);
  const layers = new FakeLayers();
  const before = new ImageRecords(database, 'before');
  const records = new ImageRecords(database, 'now');
  /** Adds an image with these layers that was written before the power failure, and returns its chain IDs. */
  const addImage = async (name: string, layerNames: string[]): Promise<string[]> => {
    const diffIds = layerNames.map((layer) => sha256Digest(layer));
    const chain = chainIds(diffIds);
    for (const [index, chainId] of chain.entries())
      layers.all.set(chainId, { parent: chain[index - 1] ?? '', isSound: false });
    const manifest = {
      schemaVersion: 2,
      mediaType: `${MEDIA}.manifest.v1+json`,
      config: { mediaType: `${MEDIA}.config.v1+json`, digest: sha256Digest(name), size: 1 },
      layers: diffIds.map((digest) => ({ mediaType: `${MEDIA}.layer.v1.tar`, digest, size: 1 })),
    };
    const { digest } = await content.ingestUnnamed(
      (writer) => writer.write(Buffer.from(JSON.stringify(manifest))),
      () => undefined,
    );
    const config = { architecture: '', os: 'linux', config: {}, rootfs: { type: 'layers', diff_ids: diffIds } };
    const tags = [`${name}:1`];
    const image = { id: sha256Digest(name), manifestDigest: digest, config, chain, content: [], sizeBytes: 1, tags };
    before.put({ ...image, digests: [], isLoaded: false });
    return chain;
  };
  const warned: unknown[] = [];
  const recover = () =>
    recoverImages({
      content,
      layers: layers as unknown as LayerSnapshots,
      snapshotter: { list: async (): Promise<SnapshotInfo[]> => [] } as Partial<Snapshotter> as Snapshotter,
      records,
      logger: { ...silentLogger, warn: (fields) => void warned.push(fields) },
      bootId: 'now',
      signal: new AbortController().signal,
    });
  return { layers, before, addImage, recover, warned };
}

test('unsynced images that share layers are unpacked from the lowest layer after a power failure', async (t) => {
  const { layers, addImage, recover, warned } = await start(t);
  for (const [name, ...own] of [['a', 'x'], ['b'], ['c', 'x', 'y'], ['d', 'z']])
    await addImage(name!, ['base', ...own]);
  await recover();
  assert.deepEqual(
    [...layers.all.values()].map(({ isSound }) => isSound),
    Array(4).fill(true),
  );
  assert.deepEqual(warned, []);
});

test('layers of unsynced images that a synced image shares are kept', async (t) => {
  const { layers, before, addImage, recover, warned } = await start(t);
  const [base] = await addImage('base', ['base']);
  before.markSynced([sha256Digest('base')]);
  const [, top] = await addImage('app', ['base', 'x']);
  await recover();
  assert.deepEqual([layers.all.get(base!)?.isSound, layers.all.get(top!)?.isSound], [false, true]);
  assert.deepEqual(warned, []);
});

test('layers of unsynced images that a container uses are kept with a warning', async (t) => {
  const { layers, addImage, recover, warned } = await start(t);
  const chain = await addImage('app', ['base', 'x']);
  layers.all.set('container', { parent: chain[1]!, isSound: true });
  await recover();
  assert.deepEqual(
    chain.map((chainId) => layers.all.get(chainId)?.isSound),
    [false, false],
  );
  assert.deepEqual(warned, [{ id: sha256Digest('app') }]);
});
