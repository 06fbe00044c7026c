import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { PodwrightError, silentLogger, sleep, waitFor } from '@podwright/base';
import { create, PodSandboxConfigSchema } from '@podwright/cri';
import { FakeRuntime } from '@podwright/cri/testing';
import { type Container, type LocalObject, LocalObjects, nameProblem, type Pod, PodEvents } from '@podwright/kube-api';
import { ImageAccess } from './image-access.ts';
import { ImageManager, type ImageOutcome } from './image-manager.ts';
import { pullFailure } from './pull-failure.ts';

const scratch = mkdtempSync(join(tmpdir(), 'podwright-images-'));
after(() => rmSync(scratch, { recursive: true }));

type Policy = Container['imagePullPolicy'];

function podOf(uid: string, secrets: string[] = []): Pod {
  const metadata = { name: uid, namespace: 'default', uid };
  const imagePullSecrets = secrets.map((name) => ({ name }));
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [], imagePullSecrets } };
}

function setUp(runtime: FakeRuntime, maxParallel = 0) {
  const directory = mkdtempSync(join(scratch, 'records-'));
  const events = new PodEvents('node');
  const objects = new LocalObjects();
  const images = new ImageManager({
    cri: runtime.client,
    events,
    objects,
    logger: silentLogger,
    queue: { maxParallel, qps: 0, burst: 0 },
    backoff: { initialMs: 60_000, maxMs: 60_000 },
    dockerConfigPaths: [],
    access: new ImageAccess({
      cri: runtime.client,
      directory,
      policy: { kind: 'NeverVerifyPreloadedImages' },
      logger: silentLogger,
    }),
  });
  const never = AbortSignal.timeout(60_000);
  const ensure = (image: string, policy?: Policy, { uid = 'u1', signal = never, secrets = [] as string[] } = {}) => {
    const container: Container = { name: 'app', image, imagePullPolicy: policy };
    const sandboxConfig = create(PodSandboxConfigSchema, {});
    return images.ensureImage({ pod: podOf(uid, secrets), container, runtimeHandler: '', sandboxConfig }, signal);
  };
  const pulls = () => runtime.calls.filter(({ method }) => method === 'pullImage').length;
  const reasons = () => events.list().map(({ reason }) => reason);
  return { images, ensure, pulls, reasons, objects, events: () => events.list() };
}

const waits = (outcome: ImageOutcome) => ('waiting' in outcome ? outcome.waiting.reason : 'there');

test('an image is pulled according to its pull policy', async () => {
  const { ensure, pulls, reasons } = setUp(new FakeRuntime({ images: ['here:1'] }));
  assert.equal(waits(await ensure('here:1', 'IfNotPresent')), 'there');
  assert.equal(pulls(), 0);
  assert.equal(waits(await ensure('here:1', 'Always')), 'there');
  assert.equal(waits(await ensure('away:1', 'IfNotPresent')), 'there');
  assert.equal(pulls(), 2);
  assert.equal(waits(await ensure('nowhere:1', 'Never')), 'ErrImageNeverPull');
  assert.deepEqual(reasons().slice(0, 3), ['Pulled', 'Pulling', 'Pulled']);
});

test('a container waits if its image name is invalid or the runtime cannot inspect the image', async () => {
  const runtime = new FakeRuntime();
  const { ensure } = setUp(runtime);
  assert.equal(waits(await ensure('not a name')), 'InvalidImageName');
  runtime.inject('imageStatus', { error: new PodwrightError('unavailable', 'away') });
  assert.equal(waits(await ensure('here:1')), 'ImageInspectError');
});

test('a failed pull is retried after a back-off, which is separate for each pod', async () => {
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

test('image pull events have the same messages as upstream', async () => {
  const { ensure, events } = setUp(new FakeRuntime({ images: ['here:1'], inRegistry: () => false }));
  const eventsOf = async (image: string, policy: Policy) => {
    const before = events().length;
    const outcome = await ensure(image, policy);
    const lines = events()
      .slice(before)
      .map(({ type, reason, message }) => `${type} ${reason} ${message}`);
    return { lines, message: 'waiting' in outcome ? outcome.waiting.message : '' };
  };
  assert.deepEqual((await eventsOf('here:1', 'IfNotPresent')).lines, [
    'Normal Pulled Container image "here:1" already present on machine and can be accessed by the pod',
  ]);
  assert.deepEqual((await eventsOf('none:1', 'Never')).lines, [
    'Warning ErrImageNeverPull Container image "none:1" is not present with pull policy of Never',
    'Warning Failed Error: ErrImageNeverPull',
  ]);
  const why = 'rpc error: code = NotFound desc = pull away:1: no such image in the registry';
  assert.deepEqual((await eventsOf('away:1', 'Always')).lines, [
    'Normal Pulling Pulling image "away:1"',
    `Warning Failed Failed to pull image "away:1": ${why}`,
    'Warning Failed Error: ErrImagePull',
  ]);
  const waiting = await eventsOf('away:1', 'Always');
  assert.deepEqual(waiting.lines, [
    'Normal BackOff Back-off pulling image "away:1"',
    'Warning Failed Error: ImagePullBackOff',
  ]);
  assert.equal(waiting.message, `Back-off pulling image "away:1": ErrImagePull: ${why}`);
  const invalid =
    'Failed to apply default image tag "a/B:1": couldn\'t parse image name "a/B:1": invalid reference format';
  assert.deepEqual((await eventsOf('a/B:1', 'Always')).lines, [
    `Warning InspectFailed ${invalid}: repository name (a/B) must be lowercase`,
    'Warning Failed Error: InvalidImageName',
  ]);
});

test('missing and invalid pull secrets emit events', async () => {
  const { ensure, objects, events } = setUp(new FakeRuntime());
  const data = { '.dockerconfigjson': 'e30=' };
  const secret = (name: string, rest: object) =>
    ({ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'default', uid: name }, ...rest }) as const;
  objects.replace([secret('empty', {}), secret('good', { data })]);
  await ensure('away:1', 'Always', { secrets: ['one', 'good', 'empty', 'two'] });
  const emitted = events().filter(({ reason }) => reason === 'FailedToRetrieveImagePullSecret');
  assert.deepEqual(
    emitted.map(({ message }) => message),
    [
      'Unable to retrieve some image pull secrets (one, two); attempting to pull the image may not succeed.',
      'Unable to use the image pull secret "empty", which holds no docker configuration; attempting to pull the image may not succeed',
    ],
  );
});

test('a pod is synced soon after a failed pull, to report ImagePullBackOff in its status', async () => {
  const { ensure } = setUp(new FakeRuntime({ inRegistry: () => false }));
  const first = await ensure('away:1');
  assert.ok('waiting' in first && first.retryAtMs! - Date.now() <= 1000);
  const second = await ensure('away:1');
  assert.ok('waiting' in second && second.retryAtMs! - Date.now() > 50_000);
});

test('an error prefix from the runtime becomes the waiting reason of the container', () => {
  const check = (error: unknown, reason: string, message: string) =>
    assert.deepEqual(pullFailure('r.test/x', error).waiting, { reason, message });
  check(
    new Error('RegistryUnavailable: no route'),
    'RegistryUnavailable',
    'image pull failed for r.test/x because the registry is unavailable: no route',
  );
  check(
    new Error('SignatureValidationFailed'),
    'SignatureValidationFailed',
    'image pull failed for r.test/x because the signature validation failed',
  );
  check(new Error('no RegistryUnavailable'), 'ErrImagePull', 'no RegistryUnavailable');
  check(new AggregateError([new Error('a'), new Error('b'), new Error('a')]), 'ErrImagePull', '[a, b]');
  check(new AggregateError([new Error('a'), new Error('a')]), 'ErrImagePull', 'a');
});

test('invalid image names are rejected with the same reasons as upstream', () => {
  const check = (text: string, problem: string) => assert.equal(nameProblem(text), problem, text);
  check('', 'invalid reference format');
  check('Bad//IMAGE::x', 'invalid reference format: repository name (/IMAGE) must be lowercase');
  check('UPPER', 'invalid reference format: repository name (UPPER) must be lowercase');
  check('a//b', 'invalid reference format');
  check('a'.repeat(64), `invalid repository name (${'a'.repeat(64)}), cannot specify 64-byte hexadecimal strings`);
  check('a'.repeat(300), 'repository name must not be more than 255 characters');
});

const withSecret = (user: string, name = user) => {
  const auths = { 'docker.io': { username: user, password: 'p' } };
  const data = { '.dockerconfigjson': Buffer.from(JSON.stringify({ auths })).toString('base64') };
  const metadata = { name, namespace: 'default', uid: '' };
  return { apiVersion: 'v1', kind: 'Secret', metadata, type: 'kubernetes.io/dockerconfigjson', data } as LocalObject;
};

test('an image pulled with a Secret is available only to pods with that Secret', async () => {
  const runtime = new FakeRuntime({ images: ['loaded:1'] });
  const { ensure, pulls, objects } = setUp(runtime);
  objects.replace([withSecret('ann'), withSecret('ann', 'the-same'), withSecret('ben')]);
  const use = async (image: string, policy: Policy, secrets: string[]) => {
    const before = pulls();
    const outcome = await ensure(image, policy, { secrets });
    return `${waits(outcome)}, ${pulls() - before} pulls`;
  };
  assert.equal(await use('private:1', 'IfNotPresent', ['ann']), 'there, 1 pulls');
  assert.equal(await use('private:1', 'IfNotPresent', ['ann']), 'there, 0 pulls');
  assert.equal(await use('docker.io/library/private:1', 'Never', ['the-same']), 'ErrImageNeverPull, 0 pulls');
  assert.equal(await use('private:1', 'Never', ['the-same']), 'there, 0 pulls');
  assert.equal(await use('private:1', 'Never', ['ben']), 'ErrImageNeverPull, 0 pulls');
  assert.equal(await use('private:1', 'Never', []), 'ErrImageNeverPull, 0 pulls');
  assert.equal(await use('loaded:1', 'Never', []), 'there, 0 pulls');
  assert.equal(await use('private:1', 'IfNotPresent', ['ben']), 'there, 1 pulls');
  assert.equal(await use('private:1', 'Never', ['ben']), 'there, 0 pulls');
  assert.equal(await use('private:1', 'IfNotPresent', []), 'there, 1 pulls');
  assert.equal(await use('private:1', 'Never', ['unknown']), 'there, 0 pulls');
});

test('a terminating pod leaves the pull queue at once', async () => {
  const runtime = new FakeRuntime();
  const { ensure, pulls, reasons } = setUp(runtime, 1);
  runtime.inject('pullImage', { delayMs: 60_000 });
  const slow = new AbortController();
  const pulling = assert.rejects(ensure('slow:1', 'Always', { signal: slow.signal }), { message: 'done' });
  const stop = new AbortController();
  const queued = ensure('next:1', 'Always', { uid: 'u2', signal: stop.signal });
  await waitFor(() => (pulls() === 1 && reasons().filter((reason) => reason === 'Pulling').length === 2) || undefined, {
    intervalMs: 1,
    signal: AbortSignal.timeout(3000),
  });
  stop.abort(new Error('the pod ends'));
  const late = sleep(3000).then(() => assert.fail('it waited for the pull of another pod'));
  await assert.rejects(Promise.race([queued, late]), { message: 'the pod ends' });
  assert.equal(pulls(), 1);
  slow.abort(new Error('done'));
  await pulling;
});
