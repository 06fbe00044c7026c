import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { errorCode, type TraceWork, waitFor, withTimeout } from '@podwright/base';
import type { ImageServiceOptions } from '../../packages/images/src/images.ts';
import { mediaTypes } from '../../packages/images/src/spec/media-types.ts';
import type { TransferProgress } from '../../packages/images/src/store/image-service.ts';
import { cutBlob, type Fault, sendError } from './faulty-registry.ts';
import { type ImageRoom, openImageRoom, openRoomWithRegistry, scratch } from './image-room.ts';
import { addImage, hostArchitecture, makeLayer } from './made-image.ts';
import { rejects } from './rejects.ts';

const { signal } = new AbortController();

async function start(t: TestContext, options: Partial<ImageServiceOptions> = {}) {
  const { registry, room } = await openRoomWithRegistry(t, options);
  return { registry, room, images: room.images, name: `${registry.host}/room/app:1` };
}

/** Reads a file from a layer's own directory, ignoring its parent layers. */
async function layerFile({ snapshotter }: ImageRoom, chainId: string, path: string): Promise<string> {
  return readFile(join(await snapshotter.layerDirectory(chainId), path), 'utf8');
}

async function checkEmpty({ root, snapshotter, images }: ImageRoom): Promise<void> {
  assert.deepEqual(images.list(), []);
  assert.deepEqual(await snapshotter.list(), []);
  assert.deepEqual(await readdir(join(root, 'content/blobs/sha256')), []);
  assert.deepEqual(await readdir(join(root, 'content/ingest')), []);
}

const base = makeLayer({ 'etc/base': 'base' });
const top = makeLayer({ 'etc/top': 'top' }, 'zstd');

test('an image with gzip and zstd layers is pulled, unpacked and found by all its names', async (t) => {
  const { registry, room, images, name } = await start(t);
  const { manifest, id } = addImage(registry, { tag: '1', layers: [base, top] });
  const image = await images.pull(name, { signal });
  assert.equal(image.id, id);
  assert.deepEqual(image.repoTags, [name]);
  assert.deepEqual(image.repoDigests, [`${registry.host}/room/app@${manifest.digest}`]);
  assert.deepEqual(image.config.config.Env, ['TAG=1']);
  assert.equal(await layerFile(room, image.chainId, 'etc/top'), 'top');
  for (const reference of [name, id, id.slice(7), id.slice(7, 17), manifest.digest, image.repoDigests[0]!]) {
    assert.equal(images.find(reference)?.id, id, reference);
  }
  assert.equal(images.find('busybox'), undefined);
  assert.ok((await images.usage()).images.sizeBytes > image.sizeBytes);
});

test('each step of a pull is traced', async (t) => {
  const traced: string[] = [];
  const trace: TraceWork = (name, work) => {
    traced.push(name.replace(/[0-9a-f]{12} \(\d+ bytes\)/, 'X'));
    return work();
  };
  const { registry, images, name } = await start(t, { trace });
  addImage(registry, { tag: '1', layers: [base, top] });
  await images.pull(name, { signal });
  assert.deepEqual(traced.toSorted(), [
    'download layer X',
    'download layer X',
    'resolve',
    'unpack layer X',
    'unpack layer X',
  ]);
});

test('unpacking is prepared before the first blob of a new image is fetched, but not for an existing image', async (t) => {
  const fetched: number[] = [];
  const prepareUnpacking = () => fetched.push(registry.requestsFor('blobs').length);
  const { registry, images, name } = await start(t, { prepareUnpacking });
  addImage(registry, { tag: '1', layers: [base] });
  await images.pull(name, { signal });
  await images.pull(name, { signal });
  assert.deepEqual(fetched, [0]);
});

test('a second pull only resolves the tag, without fetching', async (t) => {
  const { registry, images, name } = await start(t);
  addImage(registry, { tag: '1', layers: [base] });
  await images.pull(name, { signal });
  registry.requests.length = 0;
  await images.pull(name, { signal });
  assert.deepEqual(
    registry.requests.map(({ method }) => method),
    ['HEAD'],
  );
});

test('concurrent pulls of one image share the work', async (t) => {
  const { registry, images, name } = await start(t);
  addImage(registry, { tag: '1', layers: [base, top] });
  const pulled = await Promise.all([1, 2, 3].map(() => images.pull(name, { signal })));
  assert.equal(new Set(pulled.map(({ id }) => id)).size, 1);
  assert.equal(registry.requestsFor('manifests').length, 2);
  assert.equal(registry.requestsFor('blobs').length, 3);
});

test('layers shared by different images are fetched and unpacked once', async (t) => {
  const { registry, room, images } = await start(t);
  for (const tag of ['1', '2', '3']) addImage(registry, { tag, layers: [base, makeLayer({ tag })] });
  await Promise.all(['1', '2', '3'].map((tag) => images.pull(`${registry.host}/room/app:${tag}`, { signal })));
  assert.equal(registry.requestsFor('blobs').length, 3 + 3 + 1);
  assert.equal((await room.snapshotter.list()).length, 4);
});

test('layers are fetched concurrently, up to the limit', async (t) => {
  const { registry, images, name } = await start(t, { parallelDownloads: 2 });
  const layers = ['a', 'b', 'c', 'd'].map((path) => makeLayer({ [path]: path }));
  addImage(registry, { tag: '1', layers });
  const digests = new Set(layers.map(({ data }) => registry.addBlob(data).digest));
  let running = 0;
  let most = 0;
  const { promise: two, resolve: areTwo } = Promise.withResolvers<void>();
  registry.faults.push(({ path }, response) => {
    const digest = path.split('/').at(-1)!;
    if (!digests.has(digest)) return false;
    most = Math.max(most, ++running);
    if (running === 2) areTwo();
    // hold each response until two layers have been requested, which proves that layers are requested concurrently
    void two.then(() => {
      running--;
      response.end(registry.blobs.get(digest));
    });
    return true;
  });
  await images.pull(name, { signal: AbortSignal.timeout(60_000) });
  assert.equal(most, 2);
});

test('layers and config are fetched concurrently, and a failure of one ends the wait for the other', async (t) => {
  const { registry, room, images, name } = await start(t);
  const { id } = addImage(registry, { tag: '1', layers: [base] });
  const layer = registry.addBlob(base.data).digest;
  const of = (digest: string, answer: (response: ServerResponse) => void): Fault => {
    return ({ path }, response) => {
      if (!path.endsWith(digest)) return false;
      answer(response);
      return true;
    };
  };
  const refuse = (response: ServerResponse) =>
    sendError(response, { status: 404, code: 'BLOB_UNKNOWN', message: 'gone' });
  for (const [refused, silent] of [
    [id, layer],
    [layer, id],
  ] as const) {
    const { promise: requested, resolve: noteRequest } = Promise.withResolvers<void>();
    registry.faults = [
      of(silent, () => noteRequest()),
      of(refused, (response) => void requested.then(() => refuse(response))),
    ];
    await rejects(images.pull(name, { signal: AbortSignal.timeout(20_000) }), 'not_found', /gone/);
  }
  await images.clean();
  await checkEmpty(room);
  const { promise: requested, resolve: noteRequest } = Promise.withResolvers<void>();
  const whole = (digest: string) => (response: ServerResponse) => response.end(registry.blobs.get(digest));
  registry.faults = [
    of(id, (response) => void requested.then(() => whole(id)(response))),
    of(layer, (response) => {
      noteRequest();
      whole(layer)(response);
    }),
  ];
  assert.equal((await images.pull(name, { signal: AbortSignal.timeout(20_000) })).id, id);
});

test('a shared pull continues if one caller aborts, and ends once all have aborted', async (t) => {
  const { registry, room, images, name } = await start(t);
  addImage(registry, { tag: '1', layers: [base] });
  const held: (() => void)[] = [];
  const { promise: requested, resolve: noteRequest } = Promise.withResolvers<void>();
  registry.faults.push(({ path }, response) => {
    if (!path.includes('/blobs/') || held.length > 0) return false;
    held.push(() => response.destroy());
    noteRequest();
    return true;
  });
  const [one, two] = [new AbortController(), new AbortController()];
  const first = images.pull(name, { signal: one.signal });
  const second = images.pull(name, { signal: two.signal });
  await requested;
  one.abort(new Error('one aborts'));
  await assert.rejects(first, /one aborts/);
  held[0]?.();
  await second;
  await images.remove(name);
  held.length = 0;
  const { promise: requestedAgain, resolve: noteSecondRequest } = Promise.withResolvers<void>();
  registry.faults.unshift(({ path }) => {
    if (path.includes('/blobs/')) noteSecondRequest();
    return path.includes('/blobs/');
  });
  const three = new AbortController();
  const third = images.pull(name, { signal: three.signal });
  await requestedAgain;
  three.abort(new Error('all abort'));
  await assert.rejects(third, /all abort/);
  await room[Symbol.asyncDispose](); // the records can be open only once
  await using again = await openImageRoom(room.root);
  await checkEmpty(again);
});

test('a layer shared with an aborted pull is still fetched for the other image', async (t) => {
  const { registry, room, images } = await start(t);
  const big = makeLayer({ big: randomBytes(300_000).toString('hex') });
  for (const tag of ['1', '2']) addImage(registry, { tag, layers: [big, makeLayer({ [tag]: tag })] });
  const { digest, size } = registry.addBlob(big.data);
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  let silent = false;
  registry.faults.push(({ path }, response) => {
    if (!path.endsWith(digest) || silent) return false;
    silent = true; // stalls after a part, and only in the first request
    response.writeHead(200, { 'content-length': size });
    response.write(big.data.subarray(0, 100_000), () => begin());
    return true;
  });
  const caller = new AbortController();
  const first = images.pull(`${registry.host}/room/app:1`, { signal: caller.signal });
  await begun;
  const second = images.pull(`${registry.host}/room/app:2`, { signal: AbortSignal.timeout(60_000) });
  const isWaiting = () => registry.requests.some(({ path }) => path.endsWith('/manifests/2')) || undefined;
  await waitFor(isWaiting, { intervalMs: 5, signal: AbortSignal.timeout(60_000) });
  caller.abort(new Error('given up'));
  await assert.rejects(first, /given up/);
  const image = await second;
  assert.equal(await layerFile(room, image.chainId, '2'), '2');
  assert.equal(registry.requestsFor('blobs').filter(({ path }) => path.endsWith(digest)).length, 2);
});

test('the platform of this host is picked from nested indexes', async (t) => {
  const { registry, images } = await start(t);
  const own = addImage(registry, { tag: 'own', layers: [base] });
  const foreign = addImage(registry, { tag: 'foreign', layers: [top], architecture: 's390x' });
  const entry = (architecture: string, image: typeof own) => ({
    ...image.manifest,
    platform: { os: 'linux', architecture },
  });
  const manifests = [entry('s390x', foreign), entry(hostArchitecture, own)];
  const inner = registry.addManifest('inner', { schemaVersion: 2, manifests }, mediaTypes.dockerList);
  const outer = registry.addManifest('outer', { schemaVersion: 2, manifests: [inner] }, mediaTypes.ociIndex);
  const image = await images.pull(`${registry.host}/room/app:outer`, { signal });
  assert.equal(image.id, own.id);
  assert.equal(image.manifestDigest, own.manifest.digest);
  assert.deepEqual(image.repoDigests, [`${registry.host}/room/app@${outer.digest}`]);
  const others = [entry('s390x', foreign), entry('ppc64le', foreign)];
  registry.addManifest('others', { schemaVersion: 2, manifests: others }, mediaTypes.ociIndex);
  await rejects(
    images.pull(`${registry.host}/room/app:others`, { signal }),
    'not_found',
    /no image for linux\/.*; available: linux\/s390x, linux\/ppc64le/,
  );
});

test('if an index lacks platforms the configs decide, and a manifest referenced directly is accepted for any platform', async (t) => {
  const { registry, images } = await start(t);
  const own = addImage(registry, { tag: 'own', layers: [base] });
  const foreign = addImage(registry, { tag: 'foreign', layers: [top], architecture: 's390x' });
  const index = (tag: string, entries: (typeof own)[]) => {
    const manifests = entries.map(({ manifest }) => ({ ...manifest, platform: {} }));
    registry.addManifest(tag, { schemaVersion: 2, manifests }, mediaTypes.ociIndex);
    return images.pull(`${registry.host}/room/app:${tag}`, { signal });
  };
  assert.equal((await index('both', [foreign, own])).id, own.id);
  await rejects(index('wrong', [foreign]), 'not_found', /no image for linux\/.*; available: linux\/s390x/);
  assert.equal((await images.pull(`${registry.host}/room/app:foreign`, { signal })).id, foreign.id);
});

test('an image whose tag has moved keeps its digest', async (t) => {
  const { registry, images, name } = await start(t);
  const old = addImage(registry, { tag: '1', layers: [base] });
  await images.pull(name, { signal });
  const fresh = addImage(registry, { tag: '1', layers: [base, top] });
  await images.pull(name, { signal });
  assert.equal(images.find(name)?.id, fresh.id);
  const untagged = images.find(old.id);
  assert.deepEqual([untagged?.repoTags, untagged?.repoDigests.length], [[], 1]);
});

test('removing an image by one tag removes all its names, and content used by no other image', async (t) => {
  const { registry, room, images, name } = await start(t);
  addImage(registry, { tag: '1', layers: [base, top] });
  registry.manifests.set('other', registry.manifests.get('1')!);
  addImage(registry, { tag: '2', layers: [base] });
  const image = await images.pull(name, { signal });
  await images.pull(`${registry.host}/elsewhere/app:other`, { signal });
  const other = await images.pull(`${registry.host}/room/app:2`, { signal });
  assert.equal(images.find(image.id)?.repoTags.length, 2);
  await images.remove(name);
  assert.deepEqual(
    images.list().map(({ id }) => id),
    [other.id],
  );
  assert.deepEqual(
    (await room.snapshotter.list()).map(({ key }) => key),
    [other.chainId],
  );
  assert.equal((await readdir(join(room.root, 'content/blobs/sha256'))).length, 3);
  await rejects(images.remove(name), 'not_found', /`podwright images` lists/);
  await images.remove(other.id);
  await checkEmpty(room);
});

test('layers used by a container stay until the container is removed', async (t) => {
  const { registry, room, images, name } = await start(t);
  addImage(registry, { tag: '1', layers: [base, top] });
  const image = await images.pull(name, { signal });
  await room.snapshotter.prepare('container', image.chainId);
  await images.remove(name);
  assert.equal((await room.snapshotter.list()).length, 3);
  await room.snapshotter.remove('container');
  await images.collectGarbage();
  await checkEmpty(room);
});

test('pinned images are marked as pinned', async (t) => {
  const { registry, images } = await start(t, { pinnedImages: ['localhost/never'] });
  addImage(registry, { tag: '1', layers: [base] });
  assert.equal((await images.pull(`${registry.host}/room/app:1`, { signal })).pinned, false);
  const room = await openImageRoom(await scratch(t), { pinnedImages: [`${registry.host}/room/app:1`] });
  t.after(() => room[Symbol.asyncDispose]());
  assert.equal((await room.images.pull(`${registry.host}/room/app:1`, { signal })).pinned, true);
});

test('an image without layers can be pulled', async (t) => {
  const { registry, images, name } = await start(t);
  addImage(registry, { tag: '1', layers: [] });
  assert.equal((await images.pull(name, { signal })).chainId, '');
});

test('progress reports bytes and layers to the end, as well as failures', async (t) => {
  const { registry, images, name } = await start(t);
  const big = makeLayer({ big: randomBytes(2_000_000).toString('hex') });
  const { manifest } = addImage(registry, { tag: '1', layers: [base, big] });
  const watching = new AbortController();
  const seen: TransferProgress[] = [];
  const watch = (async () => {
    for await (const progress of images.transfers(watching.signal)) seen.push(progress);
  })();
  const image = await images.pull(name, { signal });
  await assert.rejects(images.pull(`${registry.host}/room/app:missing`, { signal }));
  watching.abort();
  await watch;
  const done = seen.find(({ phase }) => phase === 'done');
  const bytes = image.sizeBytes - manifest.size;
  const total = { reference: name, doneBytes: bytes, totalBytes: bytes, layersDone: 2, layersTotal: 2 };
  assert.deepEqual(done, { ...total, phase: 'done' });
  assert.deepEqual(seen[0], {
    ...total,
    phase: 'resolving',
    doneBytes: 0,
    totalBytes: 0,
    layersDone: 0,
    layersTotal: 0,
  });
  assert.match(seen.at(-1)?.error ?? '', /NAME_UNKNOWN/);
});

test('an interrupted layer is resumed', async (t) => {
  const { registry, room, images, name } = await start(t);
  const big = makeLayer({ big: randomBytes(500_000).toString('hex') });
  addImage(registry, { tag: '1', layers: [big] });
  registry.faults.push(cutBlob(big.data, { bytes: 100_000, times: 1 }));
  const image = await images.pull(name, { signal });
  assert.equal((await layerFile(room, image.chainId, 'big')).length, 1_000_000);
});

test('a layer with wrong content fails the pull and leaves nothing behind', async (t) => {
  const { registry, room, images, name } = await start(t);
  const { digest } = registry.addBlob(base.data);
  addImage(registry, { tag: '1', layers: [top, base] });
  registry.blobs.set(digest, Buffer.alloc(base.data.length));
  await rejects(images.pull(name, { signal }), 'data_loss', /the content has the digest/);
  registry.blobs.delete(digest);
  await rejects(images.pull(name, { signal }), 'not_found', /blob sha256:.* answered 404/);
  addImage(registry, { tag: '1', layers: [{ ...base, diffId: top.diffId }] });
  await rejects(images.pull(name, { signal }), 'data_loss', /its uncompressed digest is sha256:.*, the config has/);
  addImage(registry, { tag: '1', layers: [{ ...base, data: randomBytes(1000) }] });
  const notGzip = await images.pull(name, { signal }).catch(errorCode);
  assert.ok(['invalid_argument', 'data_loss'].includes(notGzip as string), String(notGzip));
  await checkEmpty(room);
});

test('the content fetched by a failed pull is retained for the next one', async (t) => {
  const { registry, room, images, name } = await start(t, { failedPullLifetimeMs: 60_000 });
  const big = makeLayer({ big: randomBytes(500_000).toString('hex') });
  addImage(registry, { tag: '1', layers: [base, big] });
  const cut = cutBlob(big.data, { bytes: 100_000, times: 1 });
  let down = true;
  registry.faults.push(cut, ({ path, headers }, response) => {
    return down && path.includes('/blobs/') && headers.range !== undefined && Boolean(response.destroy());
  });
  await rejects(images.pull(name, { signal }), 'unavailable', /connection was cut/);
  await images.collectGarbage();
  down = false;
  registry.requests.length = 0;
  const { id } = await images.pull(name, { signal });
  const ranges = registry.requestsFor('blobs').map(({ headers }) => headers.range);
  assert.deepEqual(ranges, ['bytes=100000-'], 'only the missing bytes are fetched');
  await images.remove(id);
  await checkEmpty(room);
});

test('content fetched by a failed pull is removed after its retention time', async (t) => {
  const { registry, room, images, name } = await start(t, { failedPullLifetimeMs: 1 });
  const big = makeLayer({ big: randomBytes(500_000).toString('hex') });
  addImage(registry, { tag: '1', layers: [base, big] });
  registry.faults.push(cutBlob(big.data, { bytes: 100_000, times: 100 }));
  registry.faults.push(({ path }, response) => path.includes('/blobs/') && Boolean(response.destroy()));
  await assert.rejects(images.pull(name, { signal }));
  using patience = withTimeout(undefined, 60_000, 'wait for the garbage collection');
  const isRemoved = async () => {
    const paths = await readdir(join(room.root, 'content'), { recursive: true });
    const files = paths.filter((path) => /[0-9a-f]{64}/.test(path));
    return files.length === 0 && (await room.snapshotter.list()).length === 0 ? true : undefined;
  };
  await waitFor(isRemoved, { intervalMs: 20, signal: patience });
});

test('hostile manifests and configs are refused', async (t) => {
  const { registry, images, name } = await start(t);
  const { manifest } = addImage(registry, { tag: '1', layers: [base] });
  const value = JSON.parse(String(registry.manifests.get(manifest.digest)?.data)) as Record<string, unknown>;
  const pullOf = (changed: object) => {
    registry.addManifest('1', { ...value, ...changed }, mediaTypes.ociManifest);
    return images.pull(name, { signal });
  };
  const [layer] = value.layers as object[];
  await rejects(pullOf({ layers: Array(10_000).fill(layer) }), 'invalid_argument', /10000 layers/);
  await rejects(pullOf({ layers: [layer, layer] }), 'invalid_argument', /1 diff id for 2 layers/);
  await rejects(
    pullOf({ layers: [{ ...layer, size: 2 ** 52 }] }),
    'resource_exhausted',
    /layers take 4503599627370496 bytes/,
  );
  await rejects(
    pullOf({ config: { ...(value.config as object), size: 2 ** 40 } }),
    'resource_exhausted',
    /its config has/,
  );
  await rejects(pullOf({ manifests: [] }), 'invalid_argument', /both an index and a manifest/);
  let nested = registry.addManifest('x', value, mediaTypes.ociManifest);
  for (let depth = 0; depth < 5; depth++) {
    nested = registry.addManifest('1', { schemaVersion: 2, manifests: [nested] }, mediaTypes.ociIndex);
  }
  await rejects(images.pull(name, { signal }), 'invalid_argument', /more than 3 nested indexes/);
});

test('each caller’s credentials are checked, even during a concurrent pull of the same image', async (t) => {
  const { registry, images, name } = await start(t);
  addImage(registry, { tag: '1', layers: [base] });
  const good = `Basic ${Buffer.from('me:secret').toString('base64')}`;
  registry.faults.push(({ headers }, response) => {
    if (headers.authorization === good) return false;
    const challenge = { 'www-authenticate': 'Basic realm="faulty"' };
    return sendError(response, { status: 401, code: 'UNAUTHORIZED', message: 'log in', headers: challenge });
  });
  const right = images.pull(name, { signal, auth: { username: 'me', password: 'secret' } });
  const wrong = images.pull(name, { signal, auth: { username: 'me', password: 'guess' } });
  await rejects(wrong, 'unauthenticated', /UNAUTHORIZED: log in/);
  await right;
});
