import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Logger, PodwrightError } from '@podwright/base';
import { FakeRuntime } from '@podwright/cri/testing';
import type { Pod } from '@podwright/kube-api';
import { ImageGarbageCollector } from './image-gc.ts';

/** Starts image garbage collection on a node with one used and two unused images, stored on this host's root file system. */
async function start({
  highThresholdPercent = 0,
  minAgeMs = 0,
  maxAgeMs = 0,
  mountpoint = '/',
  volume = '',
  pods = [] as Pod[],
} = {}) {
  const runtime = new FakeRuntime({ images: ['used:1', 'old:1', 'older:1'] });
  const { runtime: service, image } = runtime.client;
  const sandboxConfig = { metadata: { name: 'web', namespace: 'default', uid: 'u1', attempt: 0 } };
  const { podSandboxId } = await service.runPodSandbox({ config: sandboxConfig });
  const idOf = async (name: string) => (await image.imageStatus({ image: { image: name } })).image!.id;
  const mounts = volume === '' ? [] : [{ containerPath: '/m', image: { image: await idOf(volume) } }];
  const config = { metadata: { name: 'app', attempt: 0 }, image: { image: 'used:1' }, mounts };
  await service.createContainer({ podSandboxId, config, sandboxConfig });
  const imageFsInfo = async () => ({ imageFilesystems: mountpoint === '' ? [] : [{ fsId: { mountpoint } }] });
  const cri = { ...runtime.client, image: { ...image, imageFsInfo: imageFsInfo as never } };
  const warnings: object[] = [];
  const logger = { info: () => undefined, warn: (fields: object) => void warnings.push(fields) } as unknown as Logger;
  const events: string[] = [];
  const warn = (reason: string, message: string) => void events.push(`${reason} ${message}`);
  const forgetImages = async (ids: string[]) => void events.push(`remaining ${ids.length}`);
  const policy = { highThresholdPercent, lowThresholdPercent: 0, minAgeMs, maxAgeMs };
  const collector = new ImageGarbageCollector({ cri, policy, logger, pods: () => pods, warn, forgetImages });
  const left = async () => (await image.listImages({})).images.flatMap(({ repoTags }) => repoTags);
  return { runtime, collector, left, warnings, events };
}

test('unused images are removed when disk usage is above the threshold, used images never', async () => {
  const { collector, left, warnings } = await start();
  await assert.rejects(collector.run(), /Insufficient/);
  assert.deepEqual(await left(), ['used:1']);
  assert.deepEqual(warnings, []);
});

test('an image mounted as a container volume is kept', async () => {
  const { collector, left } = await start({ volume: 'old:1' });
  await assert.rejects(collector.run(), /Insufficient/);
  assert.deepEqual(await left(), ['used:1', 'old:1']);
});

const podSpecs: [string, Partial<Pod['spec']>][] = [
  ['a container', { containers: [{ name: 'main', image: 'old:1' }] }],
  ['an init container', { initContainers: [{ name: 'init', image: 'old:1' }] }],
  ['a sidecar', { initContainers: [{ name: 'side', image: 'old:1', restartPolicy: 'Always' }] }],
  ['an ephemeral container', { ephemeralContainers: [{ name: 'debug', image: 'old:1' }] }],
  ['an image volume', { volumes: [{ name: 'v', image: { reference: 'old:1' } }] }],
];
for (const [user, spec] of podSpecs) {
  test(`the image of ${user} that a pod has yet to create is kept, however little space is left`, async () => {
    const pods = [{ metadata: { uid: 'u2' }, spec: { containers: [], ...spec } } as unknown as Pod];
    const given = await start({ pods, maxAgeMs: 1 });
    await assert.rejects(given.collector.run(), /Insufficient/);
    await given.collector.removeUnused();
    assert.deepEqual(await given.left(), ['used:1', 'old:1']);
  });
}

test('a name without a tag stands for the image that the pod would get', async () => {
  const container = { name: 'main', image: 'plain' };
  const pods = [{ metadata: { uid: 'u2' }, spec: { containers: [container] } } as unknown as Pod];
  const { runtime, collector, left } = await start({ pods });
  await runtime.client.image.pullImage({ image: { image: 'plain:latest' } });
  await collector.removeUnused();
  assert.deepEqual(await left(), ['used:1', 'plain:latest']);
});

test('an image name that is invalid or rejected by the runtime does not stop the collection, but an outage does', async () => {
  const containers = [{ name: 'bad', image: 'NOT VALID' }, ...[{ name: 'refused', image: 'deadbeef' }]];
  const pods = [{ metadata: { uid: 'u2' }, spec: { containers } } as unknown as Pod];
  const { runtime, collector, left } = await start({ pods });
  runtime.inject('imageStatus', { error: new PodwrightError('unavailable', 'the runtime restarts'), times: 1 });
  await assert.rejects(collector.removeUnused(), { code: 'unavailable' });
  assert.equal((await left()).length, 3);
  runtime.inject('imageStatus', { error: new PodwrightError('invalid_argument', 'ambiguous'), times: 1 });
  await collector.removeUnused();
  assert.deepEqual(await left(), ['used:1']);
});

test('nothing is removed below the threshold, before the minimum age, or if the disk usage is unknown', async () => {
  for (const given of [{ highThresholdPercent: 101 }, { minAgeMs: 60_000 }, { mountpoint: '' }]) {
    const { collector, left } = await start(given);
    if ('minAgeMs' in given) await assert.rejects(collector.run(), /Insufficient/);
    else await collector.run();
    assert.equal((await left()).length, 3, JSON.stringify(given));
  }
});

test('an image that cannot be removed does not block the others', async () => {
  const { runtime, collector, left, warnings } = await start();
  runtime.inject('removeImage', { error: new PodwrightError('failed_precondition', 'in use'), times: 1 });
  await assert.rejects(collector.run(), /Insufficient/);
  assert.equal((await left()).length, 2);
  assert.equal(warnings.length, 1);
});

test('an event is emitted if removing images does not free enough space, and another one after two consecutive failures', async () => {
  const { collector, events } = await start();
  const insufficient =
    /^Insufficient free disk space on the node's image filesystem \(\d+% of \d+\.\d [KMGT]iB used\)\. .*\(freed 2000000 bytes\)/;
  await assert.rejects(collector.run(), { message: insufficient });
  assert.deepEqual(
    events.map((line) => line.split(' ')[0]),
    ['remaining', 'FreeDiskSpaceFailed'],
  );
  assert.equal(events[0], 'remaining 1');
  await assert.rejects(collector.run());
  assert.deepEqual(
    events.slice(2).map((line) => line.split(' ')[0]),
    ['remaining', 'FreeDiskSpaceFailed', 'ImageGCFailed'],
  );
});

test('removeUnused removes all unused images that predate the start, and newer ones above the minimum age', async () => {
  const { runtime, collector, left, events } = await start({ minAgeMs: 60_000, highThresholdPercent: 101 });
  await collector.begin();
  await runtime.client.image.pullImage({ image: { image: 'new:1' } });
  await collector.removeUnused();
  assert.deepEqual(await left(), ['used:1', 'new:1']);
  assert.deepEqual(events, ['remaining 2']);
});

test('an image that predates the start is new again after it was removed and pulled', async () => {
  const { runtime, collector, left } = await start({ minAgeMs: 60_000, highThresholdPercent: 101 });
  await collector.begin();
  await collector.removeUnused();
  await runtime.client.image.pullImage({ image: { image: 'old:1' } });
  await collector.removeUnused();
  assert.deepEqual(await left(), ['used:1', 'old:1']);
});
