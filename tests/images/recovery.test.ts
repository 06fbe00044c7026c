import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Logger, silentLogger, sleep, waitFor, withTimeout } from '@podwright/base';
import { FaultyRegistry } from './faulty-registry.ts';
import { openImageRoom, scratch } from './image-room.ts';
import { addImage, makeLayer } from './made-image.ts';

const { signal } = new AbortController();

async function registryWithImage(t: TestContext, tag = '1') {
  const registry = await FaultyRegistry.start();
  t.after(() => registry[Symbol.asyncDispose]());
  const layers = [makeLayer({ 'etc/base': 'base' }), makeLayer({ 'etc/top': 'x'.repeat(3_000_000) }, 'zstd')];
  return { registry, name: `${registry.host}/room/app:${tag}`, ...addImage(registry, { tag, layers }) };
}

test('images survive a restart', async (t) => {
  const { name, id } = await registryWithImage(t);
  const root = await scratch(t);
  {
    await using room = await openImageRoom(root);
    await room.images.pull(name, { signal });
  }
  await using room = await openImageRoom(root);
  assert.equal(room.images.find(name)?.id, id);
  assert.equal((await room.snapshotter.list()).length, 2);
});

test('an image with missing snapshots is unpacked again from its compressed layers', async (t) => {
  const { name, registry } = await registryWithImage(t);
  const root = await scratch(t);
  let chainId = '';
  {
    await using room = await openImageRoom(root);
    ({ chainId } = await room.images.pull(name, { signal }));
    await room.snapshotter.remove(chainId);
  }
  await registry[Symbol.asyncDispose]();
  await using room = await openImageRoom(root);
  assert.equal(room.images.find(name)?.chainId, chainId);
  assert.equal((await room.snapshotter.stat(chainId)).kind, 'committed');
});

test('images are unpacked again for a different snapshotter', async (t) => {
  const { name } = await registryWithImage(t);
  const root = await scratch(t);
  {
    await using room = await openImageRoom(root);
    await room.images.pull(name, { signal });
  }
  await using room = await openImageRoom(root, { kind: 'native' });
  const image = room.images.find(name);
  const directory = await room.snapshotter.layerDirectory(image!.chainId);
  assert.equal(readFileSync(join(directory, 'etc/base'), 'utf8'), 'base');
});

test('an image with missing snapshots and compressed layers is dropped, with its remaining content', async (t) => {
  const { name } = await registryWithImage(t);
  const root = await scratch(t);
  {
    await using room = await openImageRoom(root);
    const { chainId, manifestDigest } = await room.images.pull(name, { signal });
    await room.snapshotter.remove(chainId);
    truncateSync(join(root, 'content/blobs', manifestDigest.replace(':', '/')));
  }
  await using room = await openImageRoom(root);
  assert.deepEqual(room.images.list(), []);
  assert.deepEqual(await room.snapshotter.list(), []);
  assert.deepEqual(readdirSync(join(root, 'content/blobs/sha256')), []);
  await room.images.pull(name, { signal });
});

test('an image with a damaged record is dropped by name, including content only it uses; others stay', async (t) => {
  const { registry, name } = await registryWithImage(t);
  addImage(registry, { tag: '2', layers: [makeLayer({ 'etc/base': 'base' }), makeLayer({ other: 'other' })] });
  const root = await scratch(t);
  const warnings: string[] = [];
  const logger = { ...silentLogger, warn: (fields: object) => void warnings.push(JSON.stringify(fields)) } as Logger;
  let damaged = '';
  {
    await using room = await openImageRoom(root);
    await room.images.pull(`${registry.host}/room/app:2`, { signal });
    ({ chainId: damaged } = await room.images.pull(name, { signal }));
    room.database.prepare("UPDATE images SET config = '{' WHERE id = ?").run(room.images.find(name)!.id);
  }
  await using room = await openImageRoom(root, { logger });
  assert.deepEqual(
    room.images.list().map(({ repoTags }) => repoTags),
    [[`${registry.host}/room/app:2`]],
  );
  assert.equal(warnings.length, 1);
  assert.ok(warnings[0]?.includes(name), warnings[0]);
  const keys = (await room.snapshotter.list()).map(({ key }) => key);
  assert.equal(keys.length, 2, 'the layer that both images share stays');
  assert.ok(!keys.includes(damaged));
  await room.images.pull(name, { signal });
});

test('a partially unpacked layer and unused content are removed at startup', async (t) => {
  const { name } = await registryWithImage(t);
  const root = await scratch(t);
  {
    await using room = await openImageRoom(root);
    const { chainId } = await room.images.pull(name, { signal });
    await room.snapshotter.prepare('unpack-0123456789abcdef', chainId);
    await room.snapshotter.prepare('container', chainId);
    room.database.exec('DELETE FROM images');
  }
  await using room = await openImageRoom(root);
  const keys = (await room.snapshotter.list()).map(({ key }) => key);
  assert.ok(keys.includes('container') && keys.length === 3, keys.join());
  assert.deepEqual(readdirSync(join(root, 'content/blobs/sha256')), []);
});

test('an image that was not synced before a power failure is unpacked again', async (t) => {
  const { name } = await registryWithImage(t);
  const root = await scratch(t);
  const powerCut = async (unsyncedBoot: string): Promise<string> => {
    await using room = await openImageRoom(root);
    const { chainId } = await room.images.pull(name, { signal });
    const file = join(await room.snapshotter.layerDirectory(chainId), 'etc/top');
    truncateSync(file);
    await room.images.close();
    room.database.prepare('UPDATE images SET unsynced_boot = ?').run(unsyncedBoot);
    return file;
  };
  const sizeAfter = async (unsyncedBoot: string): Promise<number> => {
    await powerCut(unsyncedBoot);
    await using room = await openImageRoom(root);
    const { chainId } = room.images.find(name)!;
    const file = join(await room.snapshotter.layerDirectory(chainId), 'etc/top');
    return readFileSync(file).length;
  };
  assert.equal(await sizeAfter('another boot'), 3_000_000);
  assert.equal(await sizeAfter(''), 0);
});

test('images are synced to the disk in the background, and marked as synced', async (t) => {
  const { name } = await registryWithImage(t);
  await using room = await openImageRoom(await scratch(t));
  await room.images.pull(name, { signal });
  using soon = withTimeout(undefined, 60_000, 'write to the disk');
  const isSynced = () => room.database.prepare("SELECT 1 FROM images WHERE unsynced_boot = ''").get();
  await waitFor(isSynced, { intervalMs: 20, signal: soon });
});

test('a complete partial file of a manifest, left by a killed pull, does not prevent the next pull', async (t) => {
  const { registry, name, id } = await registryWithImage(t);
  const root = await scratch(t);
  const [digest, { data }] = [...registry.manifests].find(([key]) => key.startsWith('sha256:'))!;
  mkdirSync(join(root, 'content/ingest'), { recursive: true });
  writeFileSync(join(root, 'content/ingest', digest.replace(':', '-')), data);
  await using room = await openImageRoom(root);
  assert.equal((await room.images.pull(name, { signal })).id, id);
});

test('after a pull is killed at any moment, the store is consistent and the next pull succeeds', async (t) => {
  const { name, id } = await registryWithImage(t);
  const root = await scratch(t);
  const child = new URL('pull-child.ts', import.meta.url).pathname;
  let killed = 0;
  for (let delayMs = 0; delayMs <= 100; delayMs += 10) {
    const puller = spawn(process.execPath, [child, root, name], { stdio: ['ignore', 'pipe', 'inherit'] });
    const exited = once(puller, 'exit');
    await once(puller.stdout, 'data'); // the pull begins
    await sleep(delayMs, signal);
    puller.kill('SIGKILL');
    const [exitCode] = (await exited) as [number | null];
    if (exitCode === null) killed++;
    await using room = await openImageRoom(root);
    const image = room.images.find(name);
    const kinds = (await room.snapshotter.list()).map(({ kind }) => kind);
    assert.deepEqual(kinds, image === undefined ? [] : ['committed', 'committed']);
    if (image !== undefined) {
      const directory = await room.snapshotter.layerDirectory(image.chainId);
      assert.equal(readFileSync(join(directory, 'etc/top'), 'utf8').length, 3_000_000);
      await room.images.remove(name);
    }
  }
  assert.ok(killed > 3, `only ${killed} were killed in time`);
  await using room = await openImageRoom(root);
  assert.equal((await room.images.pull(name, { signal })).id, id);
});
