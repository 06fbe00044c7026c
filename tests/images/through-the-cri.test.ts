/** Images as used by a kubelet through the CRI: pulls by every form of reference, statuses, image volumes, disk usage, removal. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { waitFor, withTimeout } from '@podwright/base';
import { makeBusyboxImage } from '../fixtures/busybox-image.ts';
import { containerOf, podOf } from '../fixtures/pods.ts';
import { RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';
import { DockerRegistry } from './docker-registry.ts';

const directory = mkdtempSync('/var/tmp/podwright-images-');
const runtime = new RuntimeUnderTest();
let registry: DockerRegistry;
/** Name of the pinned image. `ids` and `digests` contain those of the pushed images, by name in the registry. */
let pinned: string;
const ids = new Map<string, string>();
const digests = new Map<string, string>();

before(async () => {
  registry = await DockerRegistry.start(directory);
  pinned = `${registry.host}/users/none:1`;
  const push = async (name: string, options: Parameters<typeof makeBusyboxImage>[1]) => {
    const made = await makeBusyboxImage(join(directory, name.replaceAll('/', '-')), options);
    const to = `docker://${registry.host}/${name}:1`;
    const copy = ['copy', '-q', '--dest-tls-verify=false', '--preserve-digests'];
    execFileSync('skopeo', [...copy, `oci:${made.layout}:1`, to], { stdio: 'pipe' });
    ids.set(name, made.id);
    digests.set(name, made.manifestDigest);
  };
  await push('users/none', { config: { Labels: { is: 'not the loaded test image' } } });
  await push('users/number', { config: { User: '1002:50' } });
  await push('users/name', { config: { User: 'www-data:www' } });
  await push('volume', { files: { '/data/in/file': 'from the image\n', '/data/other': 'whole\n' } });
  await runtime.start({ pinnedImages: [pinned] });
});

after(async () => {
  await registry[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
  for (const id of ids.values()) await runtime.cri.image.removeImage({ image: { image: id } });
  assert.deepEqual(await runtime.end(), []);
});

const statusOf = async (image: string) => (await runtime.cri.image.imageStatus({ image: { image } })).image;

test('an image is pulled by tag, by digest, and by both, and found by all its names', async () => {
  const { cri } = runtime;
  const [id, digest] = [ids.get('volume')!, digests.get('volume')!];
  const repository = `${registry.host}/volume`;
  for (const [reference, tags] of [
    [`${repository}@${digest}`, []],
    [`${repository}:other@${digest}`, []],
    [`${repository}:1`, [`${repository}:1`]],
  ] as const) {
    const { imageRef } = await cri.image.pullImage({ image: { image: reference } });
    assert.equal(imageRef, id);
    const image = await statusOf(reference);
    assert.deepEqual([image?.id, image?.repoTags, image?.repoDigests], [id, tags, [`${repository}@${digest}`]]);
  }
  const short = id.slice('sha256:'.length, 'sha256:'.length + 13);
  for (const name of [id, id.slice(7), short, `sha256:${short}`, `${repository}:1`, `${repository}@${digest}`]) {
    assert.equal((await statusOf(name))?.id, id, name);
  }
  assert.equal(await statusOf(`${repository}:2`), undefined);
  const wrong = cri.image.pullImage({ image: { image: `${repository}@sha256:${'0'.repeat(64)}` } });
  await assert.rejects(wrong, { code: 'not_found' });
  await assert.rejects(cri.image.pullImage({ image: { image: `${registry.host}/Volume:1` } }), {
    code: 'invalid_argument',
    message: /"Volume" must be lower case/,
  });
  await cri.image.removeImage({ image: { image: id } });
  await cri.image.removeImage({ image: { image: id } });
  assert.equal(await statusOf(id), undefined);
});

test('the status of an image has its user, whether it is pinned, and the requested spec', async () => {
  const { cri } = runtime;
  const users: unknown[] = [];
  for (const name of ['none', 'number', 'name']) {
    const reference = `${registry.host}/users/${name}:1`;
    await cri.image.pullImage({ image: { image: reference } });
    const image = await statusOf(reference);
    users.push([image?.uid?.value, image?.username, image?.pinned]);
  }
  assert.deepEqual(users, [
    [undefined, '', true],
    [1002n, '', false],
    [undefined, 'www-data', false],
  ]);
  const requested = { image: pinned, annotations: { a: 'b' }, userSpecifiedImage: 'none', runtimeHandler: 'crun' };
  const { image, info } = await cri.image.imageStatus({ image: requested, verbose: true });
  assert.deepEqual(
    { ...image?.spec, $typeName: undefined, imageRef: undefined },
    { ...requested, $typeName: undefined, imageRef: undefined },
  );
  assert.ok(image!.size > 0n);
  assert.match(JSON.stringify(info), /chainID/);
  const listed = (await cri.image.listImages({ filter: { image: requested } })).images;
  assert.deepEqual(
    listed.map(({ id, spec }) => [id, spec?.runtimeHandler]),
    [[ids.get('users/none'), 'crun']],
  );
  for (const name of ['none', 'number', 'name'])
    await cri.image.removeImage({ image: { image: ids.get(`users/${name}`)! } });
});

test('images and their subpaths are mounted read-only, and their layers stay as long as a container uses them', async () => {
  const { cri, place, image } = runtime;
  const reference = `${registry.host}/volume:1`;
  const { imageRef } = await cri.image.pullImage({ image: { image: reference } });
  const config = podOf(place, 'volumes');
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config });
  const create = (mounts: object[], script: string) =>
    cri.runtime.createContainer({
      podSandboxId,
      sandboxConfig: config,
      config: { ...containerOf(image, 'main', script), mounts: mounts as never },
    });
  const mount = (containerPath: string, more: object = {}) => ({
    containerPath,
    readonly: true,
    image: { image: reference },
    ...more,
  });
  await assert.rejects(create([mount('/v', { readonly: false })], ''), { message: /image mounts must be read-only/ });
  await assert.rejects(create([mount('/v', { imageSubPath: 'data/none' })], ''), {
    message: /mount data\/none of image/,
  });
  await assert.rejects(create([mount('/v', { imageSubPath: '../../etc' })], ''), { code: 'invalid_argument' });
  await assert.rejects(create([mount('/v', { image: { image: 'none:1' } })], ''), { message: /"none:1" not found/ });
  const script =
    'cat /part/file /whole/data/other; touch /whole/x || touch /part/x || echo " refused"; exec sleep 1000';
  const { containerId } = await create([mount('/whole'), mount('/part', { imageSubPath: 'data/in' })], script);
  await cri.runtime.startContainer({ containerId });
  const [first] = (await cri.runtime.containerStatus({ containerId })).status!.mounts;
  assert.equal(first?.image?.imageRef, imageRef, 'as critest requires');
  await cri.image.removeImage({ image: { image: reference } });
  const log = join(config.logDirectory, 'main.log');
  using patience = withTimeout(undefined, 60_000, 'wait for the log');
  const finished = async () => (/refused/.test(readFileSync(log, 'utf8')) ? readFileSync(log, 'utf8') : undefined);
  assert.match(
    await waitFor(finished, { intervalMs: 20, signal: patience }),
    /F from the image\n.*F whole\n.* refused/s,
  );
  const { status } = await cri.runtime.containerStatus({ containerId });
  assert.deepEqual(
    status?.mounts.map(({ containerPath, image, imageSubPath }) => [containerPath, image?.image, imageSubPath]),
    [
      ['/whole', reference, ''],
      ['/part', reference, 'data/in'],
    ],
  );
  const { stdout } = await cri.runtime.execSync({ containerId, cmd: ['cat', '/whole/data/in/file'], timeout: 20n });
  assert.equal(Buffer.from(stdout).toString(), 'from the image\n');
  const before = (await cri.image.imageFsInfo({})).imageFilesystems[0]!.usedBytes!.value;
  await cri.runtime.removePodSandbox({ podSandboxId });
  const collected = async () => {
    const after = (await cri.image.imageFsInfo({})).imageFilesystems[0]!.usedBytes!.value;
    return after < before ? true : undefined;
  };
  await waitFor(collected, { intervalMs: 50, signal: patience });
  assert.deepEqual(await runtime.remains(), []);
});

test('the status of a container has the image from which it was created', async () => {
  const { cri, place } = runtime;
  const reference = `${registry.host}/users/none:1`;
  const repoDigest = `${registry.host}/users/none@${digests.get('users/none')}`;
  const id = ids.get('users/none')!;
  await cri.image.pullImage({ image: { image: reference } });
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config: podOf(place, 'image') });
  const config = containerOf(id, 'main', 'sleep 1');
  const { containerId } = await cri.runtime.createContainer({ podSandboxId, config });
  const { status } = await cri.runtime.containerStatus({ containerId });
  assert.deepEqual([status?.image?.image, status?.imageRef, status?.imageId], [reference, repoDigest, id]);
  const [listed] = (await cri.runtime.listContainers({ filter: { id: containerId } })).containers;
  assert.deepEqual([listed?.image?.image, listed?.imageRef, listed?.imageId], [id, id, id]);
  await cri.image.removeImage({ image: { image: reference } });
  const later = (await cri.runtime.containerStatus({ containerId })).status;
  assert.deepEqual([later?.imageRef, later?.imageId], [repoDigest, id], 'also after the image was removed');
  await cri.runtime.removePodSandbox({ podSandboxId });
});

test('disk usage of images and containers is reported separately, and matches du', async () => {
  const { cri, place, image } = runtime;
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config: podOf(place, 'space') });
  const script =
    'dd if=/dev/zero of=/big bs=1M count=8; for i in $(seq 100); do touch /f$i; done; sync; exec sleep 1000';
  const { containerId } = await cri.runtime.createContainer({
    podSandboxId,
    config: containerOf(image, 'main', script),
  });
  await cri.runtime.startContainer({ containerId });
  using patience = withTimeout(undefined, 60_000, 'wait for the disk usage of a container');
  const written = async () => {
    const { imageFilesystems, containerFilesystems } = await cri.image.imageFsInfo({});
    const [images, containers] = [imageFilesystems[0]!, containerFilesystems[0]!];
    const enough = containers.usedBytes!.value >= 8n << 20n && containers.inodesUsed!.value > 100n;
    return enough ? { images, containers } : undefined;
  };
  const { images, containers } = await waitFor(written, { intervalMs: 500, signal: patience });
  assert.ok(containers.usedBytes!.value < 9n << 20n, String(containers.usedBytes!.value));
  assert.equal(dirname(images.fsId?.mountpoint ?? ''), join(place.options.root, 'snapshots'));
  const du = (...options: string[]) =>
    Number(
      execFileSync('du', ['-s', ...options])
        .toString()
        .split('\t')[0],
    );
  const content = join(place.options.root, 'content');
  const layers = join(place.options.root, 'snapshots');
  const onDisk = du('--block-size=1', content) + du('--block-size=1', layers) - Number(containers.usedBytes!.value);
  const difference = Math.abs(onDisk - Number(images.usedBytes!.value));
  assert.ok(difference < 256 * 1024, `${images.usedBytes!.value} bytes reported, du has ${onDisk}`);
  const inodes = du('--inodes', content) + du('--inodes', layers) - Number(containers.inodesUsed!.value);
  const other = Math.abs(inodes - Number(images.inodesUsed!.value));
  assert.ok(other < 40, `${images.inodesUsed!.value} inodes reported, du has ${inodes}`);
  await cri.runtime.removePodSandbox({ podSandboxId });
});
