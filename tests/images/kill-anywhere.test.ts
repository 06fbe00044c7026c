/**
 * Kills a process in the middle of concurrent pulls, loads, saves and removals: recorded images must be complete, and everything else must
 * be removed.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { sleep, waitFor, withTimeout } from '@podwright/base';
import { ContentStore } from '../../packages/images/src/content/content-store.ts';
import { ImageRecords } from '../../packages/images/src/store/image-records.ts';
import { FaultyRegistry } from './faulty-registry.ts';
import { type ImageRoom, openImageRoom, scratch } from './image-room.ts';
import { LayoutDirectory } from './layout-directory.ts';
import { addImage, makeLayer } from './made-image.ts';

const KILLS = 6;
const { signal } = new AbortController();

async function makeImages(t: TestContext): Promise<{ layout: string; references: string[] }> {
  const registry = await FaultyRegistry.start();
  t.after(() => registry[Symbol.asyncDispose]());
  const files = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`d${index % 7}/f${index}`, `${index}`]));
  const shared = makeLayer({ ...files, big: 'x'.repeat(2_000_000) });
  const tops = ['1', '2'].map((tag) => ({ tag, layers: [shared, makeLayer({ tag }, 'zstd')] }));
  for (const image of tops) addImage(registry, image);
  const layout = new LayoutDirectory(join(await scratch(t), 'layout'));
  const { manifest } = addImage(layout, { tag: '3', layers: [shared, makeLayer({ loaded: '3' })] });
  layout.writeIndex([manifest]);
  return { layout: layout.path, references: tops.map(({ tag }) => `${registry.host}/room/app:${tag}`) };
}

/** Asserts that the database, the content store and the snapshots contain exactly what the recorded images need. */
async function checkConsistent({ images, database, snapshotter, root }: ImageRoom): Promise<void> {
  const records = new ImageRecords(database, '');
  const needed = new Set(images.list().flatMap(({ id }) => records.needsOf(id)));
  const snapshots = (await snapshotter.list()).map(({ key }) => key);
  const content = (await (await ContentStore.open(root)).list()).map(({ digest }) => digest);
  assert.deepEqual([...new Set([...snapshots, ...content])].sort(), [...needed].sort());
  for (const { chainId } of images.list()) {
    assert.equal(readdirSync(await snapshotter.layerDirectory(chainId)).length, 1);
  }
}

test('a process that is killed in the middle of its work leaves no inconsistent state', async (t) => {
  const { layout, references } = await makeImages(t);
  const root = await scratch(t);
  const child = new URL('churn-child.ts', import.meta.url).pathname;
  for (let kill = 0; kill < KILLS; kill++) {
    const process_ = spawn(process.execPath, [child, root, layout, ...references], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(process_, 'exit');
    await once(process_.stdout, 'data');
    await sleep((kill * 137) % 400, signal);
    process_.kill('SIGKILL');
    assert.deepEqual(await exited, [null, 'SIGKILL']);
    await using room = await openImageRoom(root);
    await checkConsistent(room);
  }
  await using room = await openImageRoom(root);
  for (const reference of references) await room.images.pull(reference, { signal });
  await checkConsistent(room);
  for (const { id } of room.images.list()) await room.images.remove(id);
  using patience = withTimeout(undefined, 60_000, 'wait until removed layers are deleted');
  const directory = join(root, 'snapshots', room.snapshotter.name);
  const remaining = async () =>
    (await readdir(directory, { recursive: true })).filter((path) => path !== 'new' && path !== 'trash');
  await waitFor(async () => ((await remaining()).length === 0 ? true : undefined), {
    intervalMs: 20,
    signal: patience,
  });
  assert.deepEqual(readdirSync(join(root, 'content/blobs/sha256')), []);
});
