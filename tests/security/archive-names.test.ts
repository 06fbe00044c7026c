/** Names in an archive may move a tag, as in other tools, but must never assign an image another digest. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { tarArchive } from '../../packages/images/src/unpack/tar-writer.fixture.ts';
import { openRoomWithRegistry } from '../images/image-room.ts';
import { LayoutDirectory } from '../images/layout-directory.ts';
import { addImage, makeLayer } from '../images/made-image.ts';
import { rejects } from '../images/rejects.ts';
import { file } from '../unpack/layer.fixture.ts';

const signal = AbortSignal.timeout(120_000);
const fullName = 'io.containerd.image.name';
const refName = 'org.opencontainers.image.ref.name';

/** Pulls an image from a trusted registry, and prepares an untrusted layout with a different image. */
async function start(t: TestContext) {
  const { registry, room } = await openRoomWithRegistry(t);
  const good = addImage(registry, { tag: '1', layers: [makeLayer({ good: 'good' })] });
  const repository = `${registry.host}/room/app`;
  const pull = (reference = `${repository}:1`) => room.images.pull(reference, { signal });
  await pull();
  const layout = new LayoutDirectory(join(room.root, 'layout'));
  const evil = addImage(layout, { tag: '1', layers: [makeLayer({ evil: 'evil' })] });
  const load = (annotations: Record<string, string>, name?: string) => {
    layout.writeIndex([{ ...evil.manifest, annotations }]);
    return room.images.load(layout.path, { signal, name });
  };
  return { registry, room, good, evil, repository, pull, load };
}

test('an image that an archive names with the digest of a different one is rejected', async (t) => {
  const { room, good, repository, load } = await start(t);
  const pinned = `${repository}@${good.manifest.digest}`;
  for (const annotations of [{ [fullName]: pinned }, { [refName]: pinned }] as Record<string, string>[])
    await rejects(load(annotations), 'invalid_argument', /the image named .* has the digest/);
  await rejects(load({}, pinned), 'invalid_argument', /has the digest/);
  await room.images.remove(good.id);
  await rejects(load({ [fullName]: pinned }), 'invalid_argument', /has the digest/);
  assert.equal(room.images.find(pinned), undefined);
});

test('a Docker archive, whose manifests are generated, cannot name digests', async (t) => {
  const { room, good, repository } = await start(t);
  const path = join(room.root, 'archive.tar');
  const { data, diffId } = makeLayer({ evil: 'evil' }, 'tar');
  const config = JSON.stringify({ architecture: 'amd64', rootfs: { type: 'layers', diff_ids: [diffId] } });
  const pinned = `${repository}@${good.manifest.digest}`;
  const manifest = JSON.stringify([{ Config: 'c', RepoTags: [pinned], Layers: ['l'] }]);
  writeFileSync(path, tarArchive([file('c', config), { name: 'l', body: data }, file('manifest.json', manifest)]));
  await rejects(room.images.load(path, { signal }), 'invalid_argument', /has the digest/);
  assert.equal(room.images.find(pinned)?.id, good.id);
});

test('an image’s own digest is a valid name, even together with a tag', async (t) => {
  const { room, evil, repository, load } = await start(t);
  const own = `${repository}@${evil.manifest.digest}`;
  await load({ [fullName]: own });
  assert.equal(room.images.find(own)?.id, evil.id);
});

test('an archive moves a tag, and the previous image remains available by ID and digest', async (t) => {
  const { room, good, evil, repository, load } = await start(t);
  await load({ [fullName]: `${repository}:1` });
  assert.equal(room.images.find(`${repository}:1`)?.id, evil.id);
  assert.equal(room.images.find(`${repository}@${good.manifest.digest}`)?.id, good.id);
  assert.deepEqual(room.images.find(good.id)?.repoTags, []);
});

test('content with a digest other than the requested one is rejected', async (t) => {
  const { registry, room, good, repository, pull } = await start(t);
  await room.images.remove(good.id);
  const other = addImage(registry, { tag: 'other', layers: [makeLayer({ other: 'other' })] });
  const served = registry.manifests.get(other.manifest.digest)!;
  registry.manifests.set(good.manifest.digest, served);
  const pinned = `${repository}@${good.manifest.digest}`;
  await rejects(pull(pinned), 'data_loss', /the content (is|has the digest) sha256:|instead of the/);
  // the mismatch is also detected if HEAD fails, so that only GET returns the digest, and if the digest header contradicts the content
  registry.faults = [({ method }, response) => method === 'HEAD' && Boolean(response.writeHead(405).end())];
  await rejects(pull(pinned), 'data_loss', /the content (is|has the digest) sha256:|instead of the/);
  registry.faults = [
    ({ path }, response) => {
      if (!path.includes('/manifests/')) return false;
      const headers = { 'content-type': served.mediaType, 'docker-content-digest': good.manifest.digest };
      return Boolean(response.writeHead(200, { ...headers, 'content-length': served.data.length }).end(served.data));
    },
  ];
  await rejects(pull(pinned), 'data_loss', /the content (is|has the digest) sha256:|instead of the/);
  await rejects(pull(), 'data_loss', /the content (is|has the digest) sha256:|instead of the/);
  assert.deepEqual(room.images.list(), []);
});

test('labels and annotations of an image have no effect on the node', async (t) => {
  const { registry, room, repository, pull } = await start(t);
  const before = registry.requests.length;
  const labels = { 'io.containers.autoupdate': 'registry', 'org.opencontainers.image.ref.name': 'x.example/other:1' };
  const layer = makeLayer({ good: 'good' });
  const config = { architecture: 'amd64', config: { Labels: labels }, rootfs: { diff_ids: [layer.diffId] } };
  const blob = {
    mediaType: 'application/vnd.oci.image.config.v1+json',
    ...registry.addBlob(Buffer.from(JSON.stringify(config))),
  };
  const mediaType = 'application/vnd.oci.image.manifest.v1+json';
  const layers = [{ mediaType: layer.mediaType, ...registry.addBlob(layer.data) }];
  registry.addManifest('2', { schemaVersion: 2, config: blob, layers, annotations: labels }, mediaType);
  const { repoTags, pinned } = await pull(`${repository}:2`);
  assert.deepEqual([repoTags, pinned], [[`${repository}:2`], false]);
  assert.equal(room.images.find('x.example/other:1'), undefined);
  assert.ok(registry.requests.length - before < 6);
});
