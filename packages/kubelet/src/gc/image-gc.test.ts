import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Logger, PodwrightError } from '@podwright/base';
import { FakeRuntime } from '@podwright/cri/testing';
import { ImageGarbageCollector } from './image-gc.ts';

/** A node with a used, an unused and another unused image, whose images lie on this host's root file system. */
async function start({ highThresholdPercent = 0, minAgeMs = 0, maxAgeMs = 0, mountpoint = '/', volume = '' } = {}) {
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
  const told: string[] = [];
  const warn = (reason: string, message: string) => void told.push(`${reason} ${message}`);
  const forgetImages = async (ids: string[]) => void told.push(`there ${ids.length}`);
  const policy = { highThresholdPercent, lowThresholdPercent: 0, minAgeMs, maxAgeMs };
  const collector = new ImageGarbageCollector({ cri, policy, logger, warn, forgetImages });
  const left = async () => (await image.listImages({})).images.flatMap(({ repoTags }) => repoTags);
  return { runtime, collector, left, warnings, told };
}

test('unused images are removed when the disk is fuller than it may be, and used ones never', async () => {
  const { collector, left, warnings } = await start();
  await assert.rejects(collector.run(), /Insufficient/);
  assert.deepEqual(await left(), ['used:1']);
  assert.deepEqual(warnings, []);
});

test('an image that is the volume of a container stays', async () => {
  const { collector, left } = await start({ volume: 'old:1' });
  await assert.rejects(collector.run(), /Insufficient/);
  assert.deepEqual(await left(), ['used:1', 'old:1']);
});

test('nothing is removed below the threshold, before the least age, or where the disk is not known', async () => {
  for (const given of [{ highThresholdPercent: 101 }, { minAgeMs: 60_000 }, { mountpoint: '' }]) {
    const { collector, left } = await start(given);
    if ('minAgeMs' in given) await assert.rejects(collector.run(), /Insufficient/);
    else await collector.run();
    assert.equal((await left()).length, 3, JSON.stringify(given));
  }
});

test('an image that cannot be removed holds up no other one', async () => {
  const { runtime, collector, left, warnings } = await start();
  runtime.inject('removeImage', { error: new PodwrightError('failed_precondition', 'in use'), times: 1 });
  await assert.rejects(collector.run(), /Insufficient/);
  assert.equal((await left()).length, 2);
  assert.equal(warnings.length, 1);
});

test('a disk that images alone do not fill is told of, and a second failure on end too', async () => {
  const { collector, told } = await start();
  const insufficient =
    /^Insufficient free disk space on the node's image filesystem \(\d+% of \d+\.\d [KMGT]iB used\)\. .*\(freed 2000000 bytes\)/;
  await assert.rejects(collector.run(), { message: insufficient });
  assert.deepEqual(
    told.map((line) => line.split(' ')[0]),
    ['there', 'FreeDiskSpaceFailed'],
  );
  assert.equal(told[0], 'there 1');
  await assert.rejects(collector.run());
  assert.deepEqual(
    told.slice(2).map((line) => line.split(' ')[0]),
    ['there', 'FreeDiskSpaceFailed', 'ImageGCFailed'],
  );
});

test('for a node that is short all unused images go that were there when it began, and those that came later when they are old enough', async () => {
  const { runtime, collector, left, told } = await start({ minAgeMs: 60_000, highThresholdPercent: 101 });
  await collector.begin();
  await runtime.client.image.pullImage({ image: { image: 'new:1' } });
  await collector.removeUnused();
  assert.deepEqual(await left(), ['used:1', 'new:1']);
  assert.deepEqual(told, ['there 2']);
});

test('an image that was there at the start, went and came again is as young as any', async () => {
  const { runtime, collector, left } = await start({ minAgeMs: 60_000, highThresholdPercent: 101 });
  await collector.begin();
  await collector.removeUnused();
  await runtime.client.image.pullImage({ image: { image: 'old:1' } });
  await collector.removeUnused();
  assert.deepEqual(await left(), ['used:1', 'old:1']);
});
