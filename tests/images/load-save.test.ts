import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { lstat, mkdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { errorMessage, PodwrightError } from '@podwright/base';
import { EXAMPLE_IMAGE_NAME, writeExampleArchive } from '../../scripts/example-image.ts';
import { makeBusyboxImage } from '../fixtures/busybox-image.ts';
import { openImageRoom, scratch } from './image-room.ts';
import { LayoutDirectory } from './layout-directory.ts';
import { addImage, makeLayer } from './made-image.ts';

const { signal } = new AbortController();

async function start(t: TestContext) {
  const directory = await scratch(t);
  const room = await openImageRoom(join(directory, 'room'));
  t.after(() => room[Symbol.asyncDispose]());
  return { directory, room, images: room.images };
}

const run = (file: string, ...options: string[]) => execFileSync(file, options, { stdio: 'pipe', encoding: 'utf8' });

async function refuses(promise: Promise<unknown>, message: RegExp): Promise<void> {
  await assert.rejects(promise, (error: unknown) => {
    assert.ok(error instanceof PodwrightError, String(error));
    assert.match(errorMessage(error), message);
    return true;
  });
}

test('the example image is loaded from its layout directory', async (t) => {
  const { directory, room, images } = await start(t);
  const made = await makeBusyboxImage(join(directory, 'layout'));
  const [image] = await images.load(made.layout, { signal });
  assert.equal(image?.id, made.id);
  assert.deepEqual(image?.repoTags, [EXAMPLE_IMAGE_NAME]);
  assert.deepEqual(image?.repoDigests, [`localhost/podwright/busybox@${made.manifestDigest}`]);
  const root = await room.snapshotter.layerDirectory(image!.chainId);
  assert.equal(await readlink(join(root, 'bin/sh')), 'busybox');
  assert.ok((await lstat(join(root, 'bin/busybox'))).isFile());
  assert.equal((await lstat(join(root, 'tmp'))).mode & 0o7777, 0o1777);
});

test('uncompressed, gzip and zstd archives are loaded, and only content needed by images is kept', async (t) => {
  const { directory, room, images } = await start(t);
  const path = join(directory, 'image.tar');
  const made = await writeExampleArchive(path);
  const plain = readFileSync(path);
  for (const archive of [plain, gzipSync(plain), zstdCompressSync(plain)]) {
    writeFileSync(path, archive);
    assert.deepEqual(
      (await images.load(path, { signal })).map(({ id }) => id),
      [made.id],
    );
    assert.equal(readdirSync(join(room.root, 'content/blobs/sha256')).length, 3);
    await images.remove(made.id);
    assert.equal(readdirSync(join(room.root, 'content/blobs/sha256')).length, 0);
  }
});

test('a Docker archive from skopeo is loaded under its name', async (t) => {
  const { directory, images } = await start(t);
  const made = await makeBusyboxImage(join(directory, 'layout'));
  const archive = join(directory, 'docker.tar');
  run('skopeo', 'copy', '-q', `oci:${made.layout}:1`, `docker-archive:${archive}:quay.io/room/app:v2`);
  const [image] = await images.load(archive, { signal });
  assert.deepEqual([image?.repoTags, image?.repoDigests], [['quay.io/room/app:v2'], []]);
  assert.deepEqual(image?.config.config.Cmd, ['sh']);
  await images.save(['quay.io/room/app:v2'], join(directory, 'again.tar'), { signal });
  await images.remove('quay.io/room/app:v2');
  const [again] = await images.load(join(directory, 'again.tar'), { signal });
  assert.equal(again?.id, image?.id);
});

test('a Docker archive in the old format, with links between layers, is loaded', async (t) => {
  const { directory, images } = await start(t);
  const layer = makeLayer({ a: 'a' }, 'tar');
  const config = { architecture: '', os: 'linux', rootfs: { type: 'layers', diff_ids: [layer.diffId, layer.diffId] } };
  const tree = join(directory, 'tree');
  await mkdir(join(tree, 'one'), { recursive: true });
  await mkdir(join(tree, 'two'));
  writeFileSync(join(tree, 'one/layer.tar'), layer.data);
  writeFileSync(join(tree, 'config.json'), JSON.stringify(config));
  run('ln', '-s', '../one/layer.tar', join(tree, 'two/layer.tar'));
  const entry = { Config: 'config.json', RepoTags: ['a:1', 'b:2'], Layers: ['one/layer.tar', 'two/layer.tar'] };
  writeFileSync(join(tree, 'manifest.json'), JSON.stringify([entry]));
  run('tar', '-C', tree, '-cf', join(directory, 'old.tar'), '.');
  const [image] = await images.load(join(directory, 'old.tar'), { signal });
  assert.deepEqual(image?.repoTags, ['docker.io/library/a:1', 'docker.io/library/b:2']);
});

test('an image from umoci, which has only a tag, can be named by the caller', async (t) => {
  const { directory, images } = await start(t);
  const layout = join(directory, 'umoci');
  run('umoci', 'init', '--layout', layout);
  run('umoci', 'new', '--image', `${layout}:v7`);
  assert.deepEqual((await images.load(layout, { signal }))[0]?.repoTags, []);
  const named = await images.load(layout, { signal, name: 'quay.io/room/app' });
  assert.deepEqual(named[0]?.repoTags, ['quay.io/room/app:v7']);
  const both = await images.load(layout, { signal, name: 'quay.io/room/app:mine' });
  assert.deepEqual(both[0]?.repoTags, ['quay.io/room/app:mine', 'quay.io/room/app:v7']);
});

test('several images and platforms in one layout are loaded under their names', async (t) => {
  const { directory, images } = await start(t);
  const layout = new LayoutDirectory(join(directory, 'layout'));
  const own = addImage(layout, { tag: 'own', layers: [makeLayer({ own: '1' })] });
  const foreign = addImage(layout, { tag: 'foreign', layers: [], architecture: 's390x' });
  const other = addImage(layout, { tag: 'other', layers: [makeLayer({ other: '1' }, 'tar')] });
  const named = (name: string) => ({ annotations: { 'org.opencontainers.image.ref.name': name } });
  layout.writeIndex([
    { ...foreign.manifest, ...named('room/app:1'), platform: { os: 'linux', architecture: 's390x' } },
    { ...own.manifest, ...named('room/app:1') },
    { ...other.manifest, ...named('room/other:2') },
  ]);
  const loaded = await images.load(layout.path, { signal });
  assert.deepEqual(
    loaded.map(({ id, repoTags }) => [id, repoTags]),
    [
      [own.id, ['docker.io/room/app:1']],
      [other.id, ['docker.io/room/other:2']],
    ],
  );
  await refuses(
    images.load(layout.path, { signal, name: 'one:1' }),
    /the file has 2 images, which cannot all be named one:1/,
  );
  const tagged = await images.load(layout.path, { signal, name: 'all' });
  assert.ok(tagged[0]?.repoTags.includes('docker.io/library/all:1'));
});

test('saved archives can be loaded by Podwright and read by skopeo', async (t) => {
  const { directory, images } = await start(t);
  const made = await makeBusyboxImage(join(directory, 'layout'));
  const layout = new LayoutDirectory(join(directory, 'two'));
  const second = addImage(layout, { tag: 'x', layers: [makeLayer({ x: randomBytes(700).toString('hex') }, 'zstd')] });
  layout.writeIndex([second.manifest]);
  await images.load(made.layout, { signal });
  await images.load(layout.path, { signal, name: 'room/second:9' });
  const path = join(directory, 'saved.tar');
  await images.save([made.id.slice(7, 20), 'room/second:9'], path, { signal });
  for (const archive of [`docker-archive:${path}:${EXAMPLE_IMAGE_NAME}`, `oci-archive:${path}:9`]) {
    run('skopeo', 'inspect', '--config', archive);
  }
  const before = images.list();
  for (const { id } of before) await images.remove(id);
  await images.load(path, { signal });
  const ids = (list: typeof before) => list.map(({ id, repoTags }) => [id, repoTags]).sort();
  assert.deepEqual(ids(images.list()), ids(before));
  await refuses(images.save(['missing'], path, { signal }), /image "missing" not found/);
  await refuses(
    images.save([made.id], join(directory, 'no/where.tar'), { signal }),
    /save images to .*no such file or directory/,
  );
});

test('files that are not images are refused and leave nothing behind', async (t) => {
  const { directory, room, images } = await start(t);
  const path = join(directory, 'x.tar');
  const refused = async (content: Buffer | string, message: RegExp) => {
    writeFileSync(path, content);
    await refuses(images.load(path, { signal }), message);
  };
  await refuses(images.load(join(directory, 'missing'), { signal }), /load .*missing: no such file or directory/);
  await refuses(images.load(directory, { signal }), /index\.json does not exist/);
  await refused('', /read the archive|neither index\.json/);
  await refused('not a tar file', /read the archive/);
  const xz = Buffer.from('fd377a585a000004', 'hex');
  await refused(
    Buffer.concat([xz, randomBytes(5000)]),
    /unpack it: it is compressed with xz; use gzip, zstd or no compression/,
  );
  await refused(gzipSync(randomBytes(5000)), /read the archive/);
  await refused(gzipSync(randomBytes(50_000)).subarray(0, 30_000), /read the archive/);
  await writeExampleArchive(path);
  const good = await readFile(path);
  await refused(good.subarray(0, 300_000), /read the archive/);
  const wrong = Buffer.from(good);
  wrong[wrong.length - 200_000]! ^= 1;
  await refused(wrong, /the content has the digest/);
  run('tar', '-C', directory, '-cf', join(directory, 'empty.tar'), '--files-from=/dev/null');
  await refuses(images.load(join(directory, 'empty.tar'), { signal }), /neither index\.json/);
  assert.deepEqual(images.list(), []);
  assert.deepEqual(readdirSync(join(room.root, 'content/blobs/sha256')), []);
  assert.deepEqual(readdirSync(join(room.root, 'content/ingest')), []);
  assert.deepEqual(await room.snapshotter.list(), []);
});

test('a layout with a missing or wrong blob is rejected entirely', async (t) => {
  const { directory, images } = await start(t);
  const layout = new LayoutDirectory(join(directory, 'layout'));
  const good = addImage(layout, { tag: 'good', layers: [makeLayer({ good: '1' })] });
  const layer = makeLayer({ bad: '1' });
  const bad = addImage(layout, { tag: 'bad', layers: [layer] });
  layout.writeIndex(
    [good.manifest, bad.manifest].map((entry, index) => ({
      ...entry,
      annotations: { 'io.containerd.image.name': `room/app:${index}` },
    })),
  );
  const path = layout.addBlob(layer.data).digest;
  layout.replaceBlob(path, undefined);
  await refuses(images.load(layout.path, { signal }), /blobs\/sha256\/.* does not exist/);
  layout.replaceBlob(path, Buffer.alloc(layer.data.length));
  await refuses(images.load(layout.path, { signal }), /the content has the digest/);
  assert.deepEqual(images.list(), []);
});
