import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodwrightError, silentLogger, sleep, waitFor } from '@podwright/base';
import { create, PodSandboxConfigSchema } from '@podwright/cri';
import { FakeRuntime } from '@podwright/cri/testing';
import type { Container, Pod } from '../api/types.ts';
import { LocalObjects } from '../config/local-objects.ts';
import { PodEvents } from '../events/pod-events.ts';
import { ImageManager, type ImageOutcome } from './image-manager.ts';

type Policy = Container['imagePullPolicy'];

function podOf(uid: string): Pod {
  const metadata = { name: uid, namespace: 'default', uid };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [] } };
}

function setUp(runtime: FakeRuntime, maxParallel = 0) {
  const events = new PodEvents('node');
  const images = new ImageManager({
    cri: runtime.client,
    events,
    objects: new LocalObjects(),
    logger: silentLogger,
    queue: { maxParallel, qps: 0, burst: 0 },
    backoff: { initialMs: 60_000, maxMs: 60_000 },
    dockerConfigPaths: [],
  });
  const never = AbortSignal.timeout(60_000);
  const ensure = (image: string, policy?: Policy, { uid = 'u1', signal = never } = {}) => {
    const container: Container = { name: 'app', image, imagePullPolicy: policy };
    const sandboxConfig = create(PodSandboxConfigSchema, {});
    return images.ensureImage({ pod: podOf(uid), container, runtimeHandler: '', sandboxConfig }, signal);
  };
  const pulls = () => runtime.calls.filter(({ method }) => method === 'pullImage').length;
  const reasons = () => events.list().map(({ reason }) => reason);
  return { images, ensure, pulls, reasons };
}

const waits = (outcome: ImageOutcome) => ('waiting' in outcome ? outcome.waiting.reason : 'there');

test('an image is pulled as its policy says', async () => {
  const { ensure, pulls, reasons } = setUp(new FakeRuntime({ images: ['here:1'] }));
  assert.equal(waits(await ensure('here:1', 'IfNotPresent')), 'there');
  assert.equal(pulls(), 0);
  assert.equal(waits(await ensure('here:1', 'Always')), 'there');
  assert.equal(waits(await ensure('away:1', 'IfNotPresent')), 'there');
  assert.equal(pulls(), 2);
  assert.equal(waits(await ensure('nowhere:1', 'Never')), 'ErrImageNeverPull');
  assert.deepEqual(reasons().slice(0, 3), ['Pulled', 'Pulling', 'Pulled']);
});

test('a name that is none, and a runtime that cannot say, are why a container waits', async () => {
  const runtime = new FakeRuntime();
  const { ensure } = setUp(runtime);
  assert.equal(waits(await ensure('not a name')), 'InvalidImageName');
  runtime.inject('imageStatus', { error: new PodwrightError('unavailable', 'away') });
  assert.equal(waits(await ensure('here:1')), 'ImageInspectError');
});

test('a pull that failed is not tried again before its delay is over, for that pod', async () => {
  const { images, ensure, pulls } = setUp(new FakeRuntime({ inRegistry: () => false }));
  const first = await ensure('away:1');
  assert.equal(waits(first), 'ErrImagePull');
  assert.ok('waiting' in first && first.retryAtMs! > Date.now());
  const second = await ensure('away:1');
  assert.equal(waits(second), 'ImagePullBackOff');
  assert.match('waiting' in second ? second.waiting.message : '', /no such image in the registry/);
  assert.equal(waits(await ensure('away:1', undefined, { uid: 'u2' })), 'ErrImagePull');
  assert.equal(pulls(), 2);
  images.forgetPod('u1');
  assert.equal(waits(await ensure('away:1')), 'ErrImagePull');
});

test('a pod that ends while it is queued for a pull does not wait for those of others', async () => {
  const runtime = new FakeRuntime();
  const { ensure, pulls, reasons } = setUp(runtime, 1);
  runtime.inject('pullImage', { delayMs: 60_000 });
  const slow = new AbortController();
  const pulling = assert.rejects(ensure('slow:1', 'Always', { signal: slow.signal }), { message: 'done' });
  const stop = new AbortController();
  const queued = ensure('next:1', 'Always', { uid: 'u2', signal: stop.signal });
  await waitFor(() => reasons().filter((reason) => reason === 'Pulling').length === 2 || undefined, {
    intervalMs: 1,
    signal: AbortSignal.timeout(3000),
  });
  stop.abort(new Error('the pod ends'));
  const late = sleep(3000).then(() => assert.fail('it waits for the pull of another pod'));
  await assert.rejects(Promise.race([queued, late]), { message: 'the pod ends' });
  assert.equal(pulls(), 1);
  slow.abort(new Error('done'));
  await pulling;
});
