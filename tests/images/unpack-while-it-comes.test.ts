/** Pulls that unpack a layer while it is downloading: state and leftovers before the layer is verified. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { waitFor } from '@podwright/base';
import { sha256Digest } from '../../packages/images/src/content/digest.ts';
import { FaultyRegistry } from './faulty-registry.ts';
import { openImageRoom, openRoomWithRegistry, scratch } from './image-room.ts';
import { addImage, type MadeLayer, makeLayer } from './made-image.ts';
import { rejects } from './rejects.ts';

const { signal } = new AbortController();
const FIRST_BYTES = 3 << 20;

/** A large layer. The zeros after its gzip stream belong to the blob, but not to the uncompressed content. */
function bigLayer(): MadeLayer {
  const made = makeLayer({ a: 'first', b: randomBytes(5_000_000).toString('hex'), c: 'last' }, 'tar');
  return { ...made, mediaType: `${made.mediaType}+gzip`, data: Buffer.concat([gzipSync(made.data), Buffer.alloc(64)]) };
}

/** Responds to the first request for a layer with the first bytes of `body`; sends the rest once the returned function is called. */
function holdBack(registry: FaultyRegistry, layer: MadeLayer, body = layer.data): () => void {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let isAnswered = false;
  registry.faults.push(({ path }, response) => {
    if (isAnswered || !path.endsWith(sha256Digest(layer.data))) return false;
    isAnswered = true;
    response.writeHead(200, { 'content-length': body.length });
    response.write(body.subarray(0, FIRST_BYTES));
    void released.then(() => response.end(body.subarray(FIRST_BYTES)));
    return true;
  });
  return release;
}

/** Waits until the layer's file `a` exists in a snapshot; returns that snapshot's directory. */
function beingUnpacked(root: string): Promise<string> {
  const find = () => {
    const snapshots = join(root, 'snapshots');
    const trees = readdirSync(snapshots, { recursive: true, withFileTypes: true });
    return trees.find(({ name, parentPath }) => name === 'a' && !parentPath.includes('/trash'))?.parentPath;
  };
  return waitFor(find, { intervalMs: 10, signal: AbortSignal.timeout(30_000) });
}

async function start(t: TestContext) {
  const { registry, room } = await openRoomWithRegistry(t);
  const layer = bigLayer();
  addImage(registry, { tag: '1', layers: [layer] });
  return { registry, room, layer, name: `${registry.host}/room/app:1` };
}

test('a layer is not visible until it has been verified', async (t) => {
  const { registry, room, layer, name } = await start(t);
  const release = holdBack(registry, layer);
  const pulled = room.images.pull(name, { signal });
  await beingUnpacked(room.root);
  assert.deepEqual(
    (await room.snapshotter.list()).map(({ kind }) => kind),
    ['active'],
  );
  assert.deepEqual(room.images.list(), []);
  release();
  const { chainId } = await pulled;
  assert.equal(chainId, layer.diffId);
  assert.ok(existsSync(join(await room.snapshotter.layerDirectory(chainId), 'c')));
});

test('a layer with the right uncompressed content but a wrong digest is removed', async (t) => {
  const { registry, room, layer, name } = await start(t);
  const wrong = Buffer.from(layer.data);
  wrong[wrong.length - 1] = 1;
  const release = holdBack(registry, layer, wrong);
  registry.blobs.set(sha256Digest(layer.data), wrong);
  const refused = rejects(room.images.pull(name, { signal }), 'data_loss', /the content has the digest/);
  await beingUnpacked(room.root);
  release();
  await refused;
  assert.deepEqual(await room.snapshotter.list(), []);
  for (const path of ['blobs/sha256', 'ingest']) assert.deepEqual(readdirSync(join(room.root, 'content', path)), []);
  assert.deepEqual(room.database.prepare('SELECT * FROM verified_layers').all(), []);
});

test('if one host sends wrong bytes of a layer, it is unpacked again from the next host', async (t) => {
  const { registry, room, layer } = await start(t);
  await using mirror = await FaultyRegistry.start();
  const wrong = Buffer.concat([layer.data.subarray(0, FIRST_BYTES), Buffer.alloc(layer.data.length - FIRST_BYTES)]);
  for (const [key, manifest] of registry.manifests) mirror.manifests.set(key, manifest);
  for (const [key, blob] of registry.blobs) mirror.blobs.set(key, blob);
  const release = holdBack(mirror, layer, wrong);
  mirror.blobs.set(sha256Digest(layer.data), wrong);
  const directory = join(room.root, 'certs.d', registry.host);
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'hosts.toml'), `[host."http://${mirror.host}"]\n`);
  const pulled = room.images.pull(`${registry.host}/room/app:1`, { signal });
  await beingUnpacked(room.root);
  release();
  const { chainId } = await pulled;
  assert.ok(existsSync(join(await room.snapshotter.layerDirectory(chainId), 'c')));
  assert.equal((await room.snapshotter.list()).length, 1);
});

test('a pull that is aborted while unpacking a layer leaves no snapshot', async (t) => {
  const { registry, room, layer, name } = await start(t);
  holdBack(registry, layer);
  const caller = new AbortController();
  const pulled = room.images.pull(name, { signal: caller.signal });
  await beingUnpacked(room.root);
  caller.abort(new Error('aborted'));
  await assert.rejects(pulled, /aborted/);
  const isRemoved = async () => (await room.snapshotter.list()).length === 0 || undefined;
  await waitFor(isRemoved, { intervalMs: 10, signal: AbortSignal.timeout(30_000) });
});

test('a process killed while unpacking a layer that is still being downloaded leaves no snapshot, and the next pull resumes', async (t) => {
  await using registry = await FaultyRegistry.start();
  const layer = bigLayer();
  const { id } = addImage(registry, { tag: '1', layers: [layer] });
  const name = `${registry.host}/room/app:1`;
  holdBack(registry, layer);
  const root = await scratch(t);
  const child = new URL('pull-child.ts', import.meta.url).pathname;
  const puller = spawn(process.execPath, [child, root, name], { stdio: ['ignore', 'ignore', 'inherit'] });
  const exited = once(puller, 'exit');
  await waitFor(() => existsSync(join(root, 'snapshots')) || undefined, {
    intervalMs: 10,
    signal: AbortSignal.timeout(30_000),
  });
  await beingUnpacked(root);
  puller.kill('SIGKILL');
  await exited;
  await using room = await openImageRoom(root);
  assert.deepEqual(await room.snapshotter.list(), []);
  assert.deepEqual(room.images.list(), []);
  assert.equal((await room.images.pull(name, { signal })).id, id);
  assert.ok(registry.blobBytesSent < layer.data.length + 2000, 'only the rest was fetched');
});
