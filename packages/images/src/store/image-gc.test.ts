import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { PodwrightError } from '@podwright/base';
import { openDatabase } from '@podwright/metadata';
import { ContentStore } from '../content/content-store.ts';
import { chainIds, sha256Digest } from '../content/digest.ts';
import type { SnapshotInfo, Snapshotter } from '../snapshots/snapshotter.ts';
import { GarbageCollector } from './image-gc.ts';
import { ImageRecords } from './image-records.ts';
import { LayerSnapshots } from './layer-snapshots.ts';
import { Leases } from './leases.ts';
import { VerifiedLayers } from './verified-layers.ts';

/** A fake snapshotter without files, with the methods used by the garbage collector. */
class FakeSnapshots {
  readonly all = new Map<string, SnapshotInfo>();
  /** Called before the fake snapshotter's `list` returns, to simulate concurrent changes. */
  beforeList: () => void = () => undefined;

  add(key: string, parent: string, kind: SnapshotInfo['kind'] = 'committed'): void {
    this.all.set(key, { key, kind, parent, createdAtMs: 0 });
  }

  async stat(key: string): Promise<SnapshotInfo> {
    const found = this.all.get(key);
    if (found === undefined) throw new PodwrightError('not_found', key);
    return found;
  }

  async remove(key: string): Promise<void> {
    await this.stat(key);
    const child = [...this.all.values()].find(({ parent }) => parent === key);
    if (child !== undefined) throw new PodwrightError('failed_precondition', `${child.key} is built on it`);
    this.all.delete(key);
  }

  async list(): Promise<SnapshotInfo[]> {
    this.beforeList();
    return [...this.all.values()];
  }
}

async function start(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), 'podwright-gc-'));
  t.after(() => rmSync(root, { recursive: true }));
  const database = openDatabase(':memory:');
  const content = await ContentStore.open(root);
  const snapshots = new FakeSnapshots();
  const snapshotter = snapshots as unknown as Snapshotter;
  const verified = new VerifiedLayers(database);
  const records = new ImageRecords(database, '');
  const leases = new Leases();
  const unpackLayer = () => Promise.reject(new Error('unexpected unpack'));
  const layers = new LayerSnapshots({ content, snapshotter, unpackLayer, verified });
  const collector = new GarbageCollector({ content, layers, snapshotter, records, leases, verified });
  const addBlob = async (text: string): Promise<string> => {
    const { digest } = await content.ingestUnnamed(
      (writer) => writer.write(Buffer.from(text)),
      () => undefined,
    );
    return digest;
  };
  /** Adds an image with these layers to the records, the content store and the snapshotter, and returns the image's ID. */
  const addImage = async (name: string, layerNames: string[]): Promise<string> => {
    const diffIds = layerNames.map((layer) => sha256Digest(layer));
    const chain = chainIds(diffIds);
    for (const [index, chainId] of chain.entries()) snapshots.add(chainId, chain[index - 1] ?? '');
    const blobs = await Promise.all([name, ...layerNames].map(addBlob));
    const id = blobs[0]!;
    records.put({
      id,
      manifestDigest: id,
      config: { architecture: '', os: 'linux', config: {}, rootfs: { type: 'layers', diff_ids: diffIds } },
      chain,
      content: blobs,
      sizeBytes: 1,
      tags: [],
      digests: [],
      isLoaded: false,
    });
    return id;
  };
  const blobs = async () => (await content.list()).length;
  return { content, snapshots, verified, records, leases, collector, addBlob, addImage, blobs };
}

test('a removed image’s content and layers are collected, except those shared with another image', async (t) => {
  const { addImage, snapshots, records, collector, blobs, verified } = await start(t);
  const first = await addImage('first', ['base', 'middle', 'top']);
  await addImage('second', ['base', 'other']);
  const removed = { digest: sha256Digest('top'), diffId: sha256Digest('top') };
  verified.note(removed, 1);
  await collector.collect();
  assert.equal(snapshots.all.size, 4);
  assert.equal(await blobs(), 6);
  records.remove(first);
  await collector.collect();
  assert.deepEqual([...snapshots.all.keys()], chainIds([sha256Digest('base'), sha256Digest('other')]));
  assert.equal(await blobs(), 3);
  assert.ok(!verified.has(removed), 'its verification record is removed with the blob');
});

test('layers under a container’s snapshot remain until the snapshot is removed', async (t) => {
  const { addImage, snapshots, records, collector, blobs } = await start(t);
  const id = await addImage('app', ['base', 'top']);
  const [, top] = chainIds([sha256Digest('base'), sha256Digest('top')]);
  snapshots.add('container-1', top!, 'active');
  records.remove(id);
  await collector.collect();
  assert.equal(snapshots.all.size, 3);
  assert.equal(await blobs(), 0, 'its compressed layers are not needed any more');
  await snapshots.remove('container-1');
  await collector.collect();
  assert.equal(snapshots.all.size, 0);
});

test('snapshots other than image layers are not collected', async (t) => {
  const { snapshots, collector } = await start(t);
  snapshots.add('infra', '');
  snapshots.add('unpack-1', '', 'active');
  await collector.collect();
  assert.deepEqual([...snapshots.all.keys()], ['infra', 'unpack-1']);
});

test('leased content and snapshots remain, even if leased after the collection has started', async (t) => {
  const { snapshots, leases, collector, addBlob, blobs } = await start(t);
  const blob = await addBlob('a layer that is being pulled');
  const chainId = sha256Digest('unpacked meanwhile');
  snapshots.add(chainId, '');
  const lease = leases.open();
  lease.hold(blob);
  snapshots.beforeList = () => lease.hold(chainId);
  await collector.collect();
  assert.equal(await blobs(), 1);
  assert.equal(snapshots.all.size, 1);
  lease[Symbol.dispose]();
  snapshots.beforeList = () => undefined;
  await collector.collect();
  assert.equal(await blobs(), 0);
  assert.equal(snapshots.all.size, 0);
});

test('calls before a collection has started share it, and collections run one at a time', async (t) => {
  const { snapshots, collector } = await start(t);
  let lists = 0;
  snapshots.beforeList = () => lists++;
  const first = collector.collect();
  assert.equal(collector.collect(), first);
  await first;
  assert.equal(lists, 1);
  await collector.collect();
  assert.equal(lists, 2);
});

test('a failed collection rejects, and the next one completes its work', async (t) => {
  const { snapshots, collector } = await start(t);
  snapshots.add(sha256Digest('layer'), '');
  snapshots.beforeList = () => {
    throw new Error('no list today');
  };
  await assert.rejects(collector.collect(), /no list today/);
  snapshots.beforeList = () => undefined;
  await collector.collect();
  assert.equal(snapshots.all.size, 0);
});

test('a closed collector removes nothing', async (t) => {
  const { snapshots, collector, addBlob, blobs } = await start(t);
  await collector.close();
  await addBlob('unneeded');
  snapshots.add(sha256Digest('layer'), '');
  await collector.collect();
  assert.equal(await blobs(), 1);
  assert.equal(snapshots.all.size, 1);
});
