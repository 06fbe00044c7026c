/** Pulls images that skopeo and umoci have pushed to Debian's docker-registry. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import type { Descriptor } from '../../packages/images/src/spec/manifest.ts';
import type { ImageRecord } from '../../packages/images/src/store/image-service.ts';
import { makeBusyboxImage } from '../fixtures/busybox-image.ts';
import { DockerRegistry, makeCertificates, type RegistrySettings } from './docker-registry.ts';
import { type ImageRoom, openImageRoom, scratch } from './image-room.ts';
import { LayoutDirectory } from './layout-directory.ts';
import { addImage, hostArchitecture, makeLayer, packLayer } from './made-image.ts';
import { rejects } from './rejects.ts';

const { signal } = new AbortController();

async function start(t: TestContext, settings: (directory: string) => RegistrySettings = () => ({})) {
  const directory = await scratch(t);
  const chosen = settings(directory);
  const registry = await DockerRegistry.start(directory, chosen);
  const room = await openImageRoom(join(directory, 'room'));
  t.after(async () => {
    await room[Symbol.asyncDispose]();
    await registry[Symbol.asyncDispose]();
  });
  const skopeo = (from: string, to: string, ...options: string[]) =>
    execFileSync(
      'skopeo',
      ['copy', '-q', '--dest-tls-verify=false', ...options, from, `docker://${registry.host}/${to}`],
      {
        stdio: 'pipe',
      },
    );
  return { directory, registry, room, images: room.images, skopeo };
}

/** Returns the media types of a stored manifest's layers. */
function layerTypes({ root }: ImageRoom, { manifestDigest }: ImageRecord): string[] {
  const path = join(root, 'content/blobs', manifestDigest.replace(':', '/'));
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as { layers: { mediaType: string }[] };
  return manifest.layers.map(({ mediaType }) => mediaType);
}

/** Uses umoci to create an image from this host's busybox. */
function umociImage(directory: string): string {
  const umoci = (...options: string[]) => execFileSync('umoci', options, { stdio: 'pipe' });
  const layout = join(directory, 'umoci');
  umoci('init', '--layout', layout);
  umoci('new', '--image', `${layout}:one`);
  umoci('unpack', '--image', `${layout}:one`, join(directory, 'bundle'));
  mkdirSync(join(directory, 'bundle/rootfs/bin'));
  copyFileSync('/bin/busybox', join(directory, 'bundle/rootfs/bin/busybox'));
  umoci('repack', '--image', `${layout}:one`, join(directory, 'bundle'));
  umoci('config', '--image', `${layout}:one`, '--config.cmd', '/bin/busybox', '--config.user', '1000');
  return layout;
}

/** Copies an image, recompressing its layers with zstd, which this version of skopeo cannot do. */
function recompressWithZstd(layout: string, target: string): string {
  const read = (digest: string) => readFileSync(join(layout, 'blobs', digest.replace(':', '/')));
  const [entry] = (JSON.parse(readFileSync(join(layout, 'index.json'), 'utf8')) as { manifests: Descriptor[] })
    .manifests;
  const manifest = JSON.parse(String(read(entry!.digest))) as { config: Descriptor; layers: Descriptor[] };
  const directory = new LayoutDirectory(target);
  directory.addBlob(read(manifest.config.digest));
  const layers = manifest.layers.map(({ digest }) => {
    const { data, mediaType } = packLayer(gunzipSync(read(digest)), 'zstd');
    return { mediaType, ...directory.addBlob(data) };
  });
  const made = directory.addManifest('', { ...manifest, layers }, entry!.mediaType);
  directory.writeIndex([{ ...entry, ...made }]);
  return target;
}

test('images with OCI and Docker manifests, and with gzip and zstd layers, are pulled', async (t) => {
  const { directory, registry, room, images, skopeo } = await start(t);
  const layout = umociImage(directory);
  skopeo(`oci:${layout}:one`, 'made/oci:1');
  skopeo(`oci:${layout}:one`, 'made/docker:1', '--format', 'v2s2');
  skopeo(`oci:${recompressWithZstd(layout, join(directory, 'zstd'))}:one`, 'made/zstd:1');
  const chains = new Set<string>();
  for (const [name, layerType] of [
    ['oci', 'application/vnd.oci.image.layer.v1.tar+gzip'],
    ['docker', 'application/vnd.docker.image.rootfs.diff.tar.gzip'],
    ['zstd', 'application/vnd.oci.image.layer.v1.tar+zstd'],
  ]) {
    for (const { id } of images.list()) await images.remove(id); // an existing image would keep its manifest
    const image = await images.pull(`${registry.host}/made/${name}:1`, { signal });
    assert.deepEqual([image.config.config.Cmd, image.config.config.User], [['/bin/busybox'], '1000'], name);
    assert.deepEqual(layerTypes(room, image), [layerType]);
    chains.add(image.chainId);
  }
  assert.equal(chains.size, 1, 'the same layers have the same snapshots');
  const [chainId] = chains;
  const busybox = readFileSync(join(await room.snapshotter.layerDirectory(chainId!), 'bin/busybox'));
  assert.deepEqual(busybox, readFileSync('/bin/busybox'));
});

test('an image is pulled from a multi-platform index, by tag and by digest', async (t) => {
  const { directory, registry, images, skopeo } = await start(t);
  const layout = new LayoutDirectory(join(directory, 'layout'));
  const platforms = [hostArchitecture, 's390x', 'ppc64le'].map((architecture) => ({
    architecture,
    image: addImage(layout, { tag: architecture, layers: [makeLayer({ architecture })], architecture }),
  }));
  const manifests = platforms.map(({ architecture, image }) => ({
    ...image.manifest,
    platform: { os: 'linux', architecture },
  }));
  const index = layout.addManifest('', { schemaVersion: 2, manifests }, 'application/vnd.oci.image.index.v1+json');
  layout.writeIndex([{ ...index, annotations: { 'org.opencontainers.image.ref.name': 'all' } }]);
  skopeo(`oci:${layout.path}:all`, 'made/all:1', '--all');
  skopeo(`oci:${layout.path}:all`, 'made/list:1', '--all', '--format', 'v2s2');
  const name = `${registry.host}/made/all`;
  assert.equal((await images.pull(`${name}:1`, { signal })).id, platforms[0]?.image.id);
  const byDigest = await images.pull(`${name}:ignored@${index.digest}`, { signal });
  assert.deepEqual([byDigest.repoTags, byDigest.repoDigests], [[`${name}:1`], [`${name}@${index.digest}`]]);
  const list = await images.pull(`${registry.host}/made/list:1`, { signal });
  assert.deepEqual(list.config.rootfs.diff_ids, byDigest.config.rootfs.diff_ids);
  await rejects(images.pull(`${name}:2`, { signal }), 'not_found', /MANIFEST_UNKNOWN: manifest unknown/);
  await rejects(images.pull(`${registry.host}/none:1`, { signal }), 'not_found', /MANIFEST_UNKNOWN|NAME_UNKNOWN/);
});

test('pulls from a registry with a password require valid credentials', async (t) => {
  const { directory, registry, images, skopeo } = await start(t, () => ({ password: true }));
  const { layout } = await makeBusyboxImage(join(directory, 'layout'));
  skopeo(`oci:${layout}:1`, 'secret:1', '--dest-creds', 'me:secret');
  const name = `${registry.host}/secret:1`;
  await rejects(images.pull(name, { signal }), 'unauthenticated', /401 \(UNAUTHORIZED: authentication required\)/);
  const wrong = { username: 'me', password: 'guess' };
  await rejects(
    images.pull(name, { signal, auth: wrong }),
    'unauthenticated',
    /401 .*; .* these credentials are wrong/,
  );
  const auth = Buffer.from('me:secret').toString('base64');
  assert.deepEqual((await images.pull(name, { signal, auth: { auth } })).repoTags, [name]);
});

test('a TLS registry on a loopback port requires no configuration', async (t) => {
  const { directory, registry, images, skopeo } = await start(t, (where) => ({
    tls: makeCertificates(where, 'server'),
  }));
  const { layout } = await makeBusyboxImage(join(directory, 'layout'));
  skopeo(`oci:${layout}:1`, 'safe:1');
  await images.pull(`${registry.host}/safe:1`, { signal });
});

test('a mirror with a private CA and client certificates is used as configured in hosts.toml', async (t) => {
  const { directory, registry, images, skopeo, room } = await start(t, (where) => {
    return { tls: makeCertificates(where, 'server'), clientCa: makeCertificates(where, 'client').ca };
  });
  const { layout } = await makeBusyboxImage(join(directory, 'layout'));
  mkdirSync(join(directory, 'certs'));
  copyFileSync(join(directory, 'client-cert.pem'), join(directory, 'certs/x.cert'));
  copyFileSync(join(directory, 'client-key.pem'), join(directory, 'certs/x.key'));
  skopeo(`oci:${layout}:1`, 'library/app:1', '--dest-cert-dir', join(directory, 'certs'));
  const configure = (...lines: string[]) => {
    const path = join(room.root, 'certs.d/registry.invalid');
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, 'hosts.toml'), [`[host."https://${registry.host}"]`, ...lines].join('\n'));
    return images.pull('registry.invalid/library/app:1', { signal });
  };
  const client = `client = [["${directory}/client-cert.pem", "${directory}/client-key.pem"]]`;
  await rejects(
    configure(client),
    'unavailable',
    /signed by an authority that is not trusted here; name .* hosts\.toml/,
  );
  await rejects(configure(`ca = "${directory}/server-ca.pem"`), 'unavailable', /before: connect to https:\/\/127/);
  const image = await configure(`ca = "${directory}/server-ca.pem"`, client);
  assert.deepEqual(image.repoTags, ['registry.invalid/library/app:1']);
  await images.remove(image.id);
  await configure('skip_verify = true', client);
});

test('the digests of pulled content match those in the registry', async (t) => {
  const { directory, registry, images, room, skopeo } = await start(t);
  const made = await makeBusyboxImage(join(directory, 'layout'));
  skopeo(`oci:${made.layout}:1`, 'app:1', '--preserve-digests');
  const image = await images.pull(`${registry.host}/app:1`, { signal });
  assert.deepEqual([image.id, image.manifestDigest], [made.id, made.manifestDigest]);
  for (const digest of [made.id, made.manifestDigest, made.layerDigest]) {
    assert.ok(existsSync(join(room.root, 'content/blobs', digest.replace(':', '/'))), digest);
  }
});
