/** Images of a Docker Engine through the CRI, with a real registry and with faulty Engines. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setInterval } from 'node:timers/promises';
import { silentLogger, waitFor } from '@podwright/base';
import type { ImageSpecSchema, MessageInitShape } from '@podwright/cri';
import { runChecked } from '@podwright/host';
import { engineAt } from '../../packages/dockershim/src/engine/engine.ts';
import { imageEnsurer } from '../../packages/dockershim/src/images/ensure-image.ts';
import { pullImage } from '../../packages/dockershim/src/images/pull-image.ts';
import { parseReference } from '../../packages/dockershim/src/images/reference.ts';
import { LIST_CACHE_MS } from '../../packages/dockershim/src/limits.ts';
import { writeExampleArchive } from '../../scripts/example-image.ts';
import { DockerRegistry } from '../images/docker-registry.ts';
import { BarePods, bareOptions } from './bare-pods.fixture.ts';
import { busyboxImage } from './docker-engine.fixture.ts';

let pods: BarePods;
let registry: DockerRegistry;
let guarded: DockerRegistry;

before(async () => {
  pods = await BarePods.start();
  registry = await DockerRegistry.start(pods.docker.scratch);
  guarded = await DockerRegistry.start(pods.docker.scratch, { password: true });
  const archive = join(pods.docker.scratch, 'app.tar');
  await writeExampleArchive(archive, { name: 'app', config: { User: '1000:1000' } });
  const source = ['copy', '--insecure-policy', '--dest-tls-verify=false', '--format=v2s2', `oci-archive:${archive}`];
  await runChecked('skopeo', [...source, `docker://${registry.host}/team/app:1`]);
  await runChecked('skopeo', [...source, '--dest-creds=me:secret', `docker://${guarded.host}/team/app:1`]);
});
after(async () => {
  await registry?.[Symbol.asyncDispose]();
  await guarded?.[Symbol.asyncDispose]();
  await pods?.[Symbol.asyncDispose]();
});

const spec = (image: string): MessageInitShape<typeof ImageSpecSchema> => ({ image });
const images = () => pods.cri.image;

test('an image is pulled, found by tag, digest and id, listed, and removed with all its names', async () => {
  const name = `${registry.host}/team/app`;
  const { imageRef: id } = await images().pullImage({ image: spec(`${name}:1`) });
  const { image, info } = await images().imageStatus({ image: spec(`${name}:1`), verbose: true });
  assert.equal(image?.id, id);
  assert.deepEqual([image.repoTags, image.uid?.value, image.pinned], [[`${name}:1`], 1000n, false]);
  assert.ok(image.size > 1_000_000n);
  const { imageSpec } = JSON.parse(info.info!);
  assert.deepEqual([imageSpec.config.User, imageSpec.rootfs.diff_ids.length], ['1000:1000', 1]);
  assert.deepEqual([imageSpec.os, imageSpec.history.length > 0], ['linux', true]);
  const [digest] = image.repoDigests;
  for (const reference of [id, id.slice(7), id.slice(7, 20), digest!, `${name}:9@${digest!.split('@')[1]}`]) {
    const { image: found } = await images().imageStatus({ image: spec(reference), verbose: false });
    assert.equal(found?.id, id, reference);
  }
  assert.deepEqual(
    await images()
      .imageStatus({ image: spec(id.slice(7, 11)), verbose: false })
      .then((one) => one.image),
    undefined,
  );
  await pods.engine.archives.tag(id, { repository: 'other', tag: '2' });
  const all = (await images().listImages({})).images.find((one) => one.id === id);
  assert.deepEqual([...all!.repoTags].sort(), [`${name}:1`, 'other:2']);
  const some = await images().listImages({ filter: { image: spec('docker.io/library/other:2') } });
  assert.deepEqual(
    some.images.map((one) => one.id),
    [id],
  );
  await images().removeImage({ image: spec(id) });
  assert.deepEqual((await images().listImages({ filter: { image: spec(id) } })).images, []);
  await images().removeImage({ image: spec(id) });
  await images().pullImage({ image: spec(digest!) });
  await images().removeImage({ image: spec(digest!) });
  assert.equal((await images().imageStatus({ image: spec(digest!), verbose: false })).image, undefined);
});

test('the cached container list is invalidated when any client tags an image', async () => {
  const list = () => pods.engine.lists.list({ label: ['image.test=1'] });
  const isCached = async () => {
    const one = await list();
    return one === (await list()) ? one : undefined;
  };
  const cached = await waitFor(isCached, { intervalMs: 10, signal: AbortSignal.timeout(10_000) });
  const other = engineAt(pods.docker.socket);
  await other.archives.tag(busyboxImage, { repository: 'renamed', tag: '1' });
  // the timeout is half of the cache's lifetime, so a new list proves that the cached one was invalidated
  const isNew = async () => ((await list()) !== cached ? true : undefined);
  await waitFor(isNew, { intervalMs: 10, signal: AbortSignal.timeout(LIST_CACHE_MS / 2) });
  await other.archives.untag('renamed:1');
  other.close();
});

test('credentials are sent to the registry, and a pull with wrong ones fails with the right error class', async () => {
  const image = spec(`${guarded.host}/team/app:1`);
  const check = async (auth: { username?: string; password?: string; auth?: string } | undefined, code: string) =>
    assert.rejects(async () => images().pullImage({ image, auth }), { code });
  await check(undefined, 'unauthenticated');
  await check({ username: 'me', password: 'wrong' }, 'unauthenticated');
  await images().pullImage({ image, auth: { username: 'me', password: 'secret' } });
  await images().removeImage({ image });
  await images().pullImage({ image, auth: { auth: Buffer.from('me:secret').toString('base64') } });
  await images().removeImage({ image });
});

test('a missing image, an unreachable registry and a malformed reference have different errors', async () => {
  const check = async (image: string, expected: object) =>
    assert.rejects(async () => images().pullImage({ image: spec(image) }), expected, image);
  await check(`${registry.host}/team/app:nosuch`, { code: 'not_found', message: /manifest/ });
  await check(`${registry.host}/nosuch:1`, { code: 'not_found' });
  await check('127.0.0.1:1/app:1', { code: 'unavailable', message: /^RegistryUnavailable: .*connection refused/ });
  await check('No Image', { code: 'invalid_argument' });
});

test('an image used by a container is not removed, and the error says so', async () => {
  const sandboxId = await pods.sandbox();
  await assert.rejects(async () => images().removeImage({ image: spec(busyboxImage) }), {
    code: 'failed_precondition',
    message: /a container uses it.*using/,
  });
  await pods.engine.containers.remove(sandboxId);
});

test('the image file system is that of Docker’s root directory', async () => {
  const { imageFilesystems } = await images().imageFsInfo({});
  assert.equal(imageFilesystems[0]?.fsId?.mountpoint, join(pods.docker.scratch, 'data'));
  assert.ok(imageFilesystems[0].usedBytes!.value > 1_000_000n);
});

test('the sandbox image is pulled with the host’s credentials, and built once from host programs if no registry responds', async () => {
  const home = join(pods.docker.scratch, 'home');
  mkdirSync(join(home, '.docker'), { recursive: true });
  const auths = { [guarded.host]: { auth: Buffer.from('me:secret').toString('base64') } };
  writeFileSync(join(home, '.docker/config.json'), JSON.stringify({ auths }));
  const ensure = imageEnsurer({ engine: pods.engine, options: bareOptions, logger: silentLogger }, { home });
  const { signal } = new AbortController();
  await ensure(`${guarded.host}/team/app:1`, signal);
  await assert.rejects(ensure(`${guarded.host}/team/nosuch:1`, signal), { code: 'not_found' });
  const pause = '127.0.0.1:1/pause:3.10';
  await Promise.all([ensure(pause, signal), ensure(pause, signal)]);
  const made = await pods.engine.images.inspect(pause);
  assert.deepEqual([...made.RepoTags].sort(), [pause, 'podwright.local/pause:3.10']);
  await ensure(pause, signal);
  assert.equal((await pods.engine.images.inspect(pause)).Id, made.Id);
  const id = await pods.engine.containers.create('pause', {
    Image: pause,
    Labels: {},
    HostConfig: { NetworkMode: 'none' },
  });
  await pods.engine.containers.start(id);
  const { State } = await pods.engine.containers.inspect(id);
  assert.ok(State.Running);
  await pods.engine.containers.remove(id);
});

/** Pulls an image from a fake Engine that returns this response. */
async function pullFrom(
  answer: (response: ServerResponse) => unknown,
  { deadlineMs = 60_000, signal = new AbortController().signal } = {},
) {
  const socket = join(pods.docker.scratch, `fake-${Math.random()}.sock`);
  const server = createServer((request, response) => {
    request.resume();
    if (request.url!.includes('/images/create')) void answer(response);
    else response.end(JSON.stringify({ Id: 'sha256:1', RepoTags: [], RepoDigests: [], Size: 1 }));
  }).listen(socket);
  await once(server, 'listening');
  const engine = engineAt(socket);
  const options = { ...bareOptions, pullProgressDeadlineMs: deadlineMs };
  try {
    return await pullImage({ engine, options }, { reference: parseReference('app:1') }, signal);
  } finally {
    engine.close();
    server.closeAllConnections();
    server.close();
  }
}

const line = (message: object) => `${JSON.stringify(message)}\n`;

test('malformed progress ends a pull: invalid JSON, an endless line, an error, a lost connection', async () => {
  await assert.rejects(
    pullFrom((response) => response.end('<html>')),
    { code: 'internal', message: /progress is not as expected/ },
  );
  const endless = (response: ServerResponse) => {
    const more = () => {
      while (response.writable && response.write('x'.repeat(1 << 16)));
    };
    response.on('drain', more);
    more();
  };
  await assert.rejects(pullFrom(endless), { code: 'internal' });
  const refused = { errorDetail: { code: 503, message: '<html>' }, error: 'received unexpected HTTP status: 503' };
  await assert.rejects(
    pullFrom((response) => response.end(line({ status: 'Pulling' }) + line(refused))),
    {
      code: 'unavailable',
      message: /^RegistryUnavailable: /,
    },
  );
  await assert.rejects(
    pullFrom((response) => response.write(line({ status: 'Pulling' }), () => response.destroy())),
    {
      code: 'unavailable',
      message: /connection to the Docker Engine was lost/,
    },
  );
  assert.equal(await pullFrom((response) => response.end(line({ status: 'Done' }))), 'sha256:1');
});

test('a pull that reports the same progress repeatedly times out, but not while it unpacks', async () => {
  const repeat = (status: string) => async (response: ServerResponse) => {
    let count = 0;
    for await (const _ of setInterval(20)) {
      if (response.destroyed) return;
      if (count++ === 100) return response.end(line({ id: 'a', status: 'Pull complete' }));
      response.write(line({ id: 'a', status }));
    }
  };
  await assert.rejects(pullFrom(repeat('Waiting'), { deadlineMs: 300 }), {
    code: 'deadline_exceeded',
    message: /no progress within 300 ms/,
  });
  assert.equal(await pullFrom(repeat('Extracting'), { deadlineMs: 300 }), 'sha256:1');
});

test('a canceled pull closes its connection', async () => {
  const cancelled = new AbortController();
  let isClosed = false;
  const hold = (response: ServerResponse) => {
    response.on('close', () => {
      isClosed = true;
    });
    response.write(line({ status: 'Pulling' }), () => cancelled.abort(new Error('cancelled')));
  };
  await assert.rejects(pullFrom(hold, { signal: cancelled.signal }), /cancelled/);
  await waitFor(() => isClosed || undefined, { intervalMs: 10, signal: AbortSignal.timeout(30_000) });
});
