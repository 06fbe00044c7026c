import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noFailpoint, silentLogger, sleep, waitFor, withTimeout } from '@podwright/base';
import type { KubeObject, PodStatus } from '@podwright/kube-api';
import { PODS } from '@podwright/kube-client';
import { refusal } from '@podwright/kube-client/testing';
import { StatusManager } from '../status/status-manager.ts';
import { apiPod, fakeApi } from './api-pods.fixture.ts';
import { decodeApiPod } from './decode-api-pod.ts';
import { StatusSync } from './status-sync.ts';

/** Starts a StatusSync for the pods of a fake API server. The pods have finished unless `couldRun` is set. */
function start({
  couldRun = false,
  api = fakeApi(),
  failpoint = noFailpoint,
  logger = silentLogger,
  reconcileMs = 20,
} = {}) {
  const statuses = new StatusManager();
  const key = (uid: string) => ({ namespace: 'default', name: uid.slice('uid-'.length) });
  const sync = new StatusSync({
    ...{ client: api, statuses, logger, reconcileMs, failpoint },
    shownAs: (uid) => {
      const decoded = decodeApiPod(api.stored(PODS, key(uid)), 0);
      return decoded.kind === 'pod' ? { pod: decoded.pod, isMirror: false } : undefined;
    },
    couldRun: () => couldRun,
    isFinished: () => !couldRun,
  });
  sync.start();
  const put = (name: string, more: object = {}) => api.put(PODS, apiPod(name, { ...more }));
  const status = (name: string) => api.stored<ReturnType<typeof apiPod>>(PODS, { namespace: 'default', name })?.status;
  const patches = () => api.callsOf({ verb: 'patch', plural: 'pods' });
  const reported = async (name: string) => {
    using signal = withTimeout(undefined, 30_000, `wait for the status of ${name}`);
    await waitFor(() => status(name)?.phase === 'Running' || undefined, { intervalMs: 2, signal });
  };
  return { api, statuses, sync, put, status, patches, reported };
}

const running = (podIP = '192.0.2.9'): PodStatus => ({ phase: 'Running', podIP, podIPs: [{ ip: podIP }] });

test('changes during a patch in flight are sent together after it', async () => {
  const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const failpoint = () => {
    reached.resolve();
    return released.promise;
  };
  const { statuses, put, sync, patches, status } = start({ failpoint });
  const pod = put('web');
  for (const ip of ['192.0.2.1', '192.0.2.2', '192.0.2.3']) statuses.set(pod, running(ip));
  await reached.promise;
  statuses.set(pod, running('192.0.2.4'));
  statuses.set(pod, running('192.0.2.5'));
  released.resolve();
  using signal = withTimeout(undefined, 30_000, 'wait for the last address');
  await waitFor(() => status('web')!.podIP === '192.0.2.5' || undefined, { intervalMs: 2, signal });
  assert.equal(patches().length, 2);
  sync.stop();
});

test('a pod is read before its patch only after a conflict', async () => {
  const { api, statuses, put, sync, patches, reported } = start({ api: fakeApi(refusal(409, 'Conflict')) });
  const bodies = () => patches().map(({ body }) => (body as KubeObject).metadata.resourceVersion);
  const pod = put('web');
  statuses.set(pod, running());
  await reported('web');
  assert.deepEqual(bodies(), [pod.metadata.resourceVersion, undefined]);
  assert.equal(api.callsOf({ verb: 'get' }).length, 1);
  statuses.set(pod, running('192.0.2.10'));
  await api.waitForCalls({ verb: 'patch' }, 3);
  assert.equal(api.callsOf({ verb: 'get' }).length, 1);
  sync.stop();
});

test('a pod that is soon Running needs one patch, and one that stays Pending is reported slightly later', async () => {
  const { api, statuses, put, sync, patches, reported, status } = start();
  const [web, slow] = [put('web'), put('slow')];
  const pending: PodStatus = { phase: 'Pending', hostIP: '192.0.2.1' };
  statuses.set(web, pending);
  statuses.set(slow, pending);
  statuses.set(web, running());
  await reported('web');
  assert.equal(patches().length, 1);
  await api.waitForCalls({ verb: 'patch', name: 'slow' });
  assert.equal(status('slow')!.hostIP, '192.0.2.1');
  sync.stop();
});

test('the status of a pod just waiting for its turn is sent after a second, unless it gives a reason', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  const { statuses, put, sync, patches } = start({ reconcileMs: 60_000 });
  t.after(() => sync.stop());
  const pass = async (ms: number) => {
    nowMs += ms;
    t.mock.timers.tick(ms);
    for (let times = 0; times < 5; times++) await new Promise((resolve) => setImmediate(resolve));
    return patches().map(({ key }) => key!.name);
  };
  const waiting = (reason: string): PodStatus => ({
    phase: 'Pending',
    containerStatuses: [{ name: 'c', state: { waiting: { reason } }, lastState: {}, restartCount: 0 } as never],
  });
  const [turn, pull] = [put('turn'), put('pull')];
  for (const pod of [turn, pull]) statuses.set(pod, waiting('ContainerCreating'));
  await pass(0);
  assert.deepEqual(await pass(500), []);
  statuses.set(pull, waiting('ErrImagePull'));
  assert.deepEqual(await pass(0), []);
  assert.deepEqual(await pass(100), ['pull']);
  assert.deepEqual(await pass(400), ['pull', 'turn']);
});

test('a status changed by another client is corrected', async () => {
  const { api, statuses, put, sync, reported } = start();
  statuses.set(put('web'), running());
  await reported('web');
  put('web');
  await reported('web');
  assert.equal(api.callsOf({ verb: 'patch' }).length, 2);
  sync.stop();
});

test('fields dropped by the API server are not sent repeatedly', async () => {
  const api = fakeApi(() => api.put(PODS, { ...apiPod('web'), status: { phase: 'Running' } } as KubeObject));
  const { statuses, put, sync, patches, reported } = start({ api });
  statuses.set(put('web'), running());
  await api.waitForCalls({ verb: 'patch' });
  for (const name of ['a', 'b', 'c']) {
    statuses.set(put(name), running());
    await reported(name);
    put(name); // corrected by the next reconciliation
    await reported(name);
  }
  assert.equal(patches().filter(({ key }) => key!.name === 'web').length, 1);
  sync.stop();
});

test('errors for a deleted, recreated or forbidden pod are not retried on another pod', async () => {
  for (const error of [refusal(404, 'NotFound'), refusal(403, 'Forbidden'), refusal(409, 'Conflict')]) {
    const { api, statuses, put, sync, patches } = start({ api: fakeApi(error) });
    const pod = put('web');
    api.script({ verb: 'get' }, { ...pod, metadata: { ...pod.metadata, uid: 'another' } });
    statuses.set(pod, running());
    await api.waitForCalls({ verb: 'patch' }, 2);
    for (const { body } of patches())
      assert.equal((body as KubeObject).metadata.resourceVersion, pod.metadata.resourceVersion);
    sync.stop();
  }
});

test('failed patches are retried', async () => {
  const faults = [refusal(500, 'InternalError'), refusal(422, 'Invalid'), refusal(503, 'ServiceUnavailable')];
  const { statuses, put, sync, status, reported, patches } = start({ api: fakeApi(...faults) });
  statuses.set(put('web'), running());
  await reported('web');
  assert.equal(patches().length, 4);
  assert.equal(status('web')!.phase, 'Running');
  sync.stop();
});

test('a terminal phase is not reported while containers may run', async () => {
  const { api, statuses, put, sync, status } = start({ couldRun: true });
  const pod = put('web', { deletionTimestamp: '2026-01-01T00:00:00Z' });
  statuses.set(pod, { ...running(), phase: 'Failed', reason: 'Evicted' });
  await api.waitForCalls({ verb: 'patch' });
  assert.deepEqual([status('web')!.phase, status('web')!.reason], ['Pending', undefined]);
  assert.equal(api.callsOf({ verb: 'delete' }).length, 0);
  sync.stop();
});

test('repeated rejections of a status are logged once', async () => {
  const warnings: string[] = [];
  const logger = { ...silentLogger, warn: (fields: object) => void warnings.push((fields as { error: string }).error) };
  const refusals = [refusal(403, 'Forbidden'), refusal(409, 'Conflict'), refusal(403, 'Forbidden')];
  const { statuses, put, sync, reported } = start({ api: fakeApi(...refusals), logger });
  statuses.set(put('web'), running());
  await reported('web');
  assert.deepEqual(warnings, ['fake call: Forbidden']);
  sync.stop();
});

test('the response for a pod deleted in between is dropped', async () => {
  const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let merges = 0;
  const failpoint = (stage: string) => {
    if (stage === 'status/merged') merges++;
    if (stage !== 'status/patched') return Promise.resolve();
    reached.resolve();
    return released.promise;
  };
  const { statuses, put, sync } = start({ failpoint });
  const pod = put('web');
  statuses.set(pod, running());
  await reached.promise;
  statuses.delete(pod.metadata.uid);
  released.resolve();
  await sleep(100); // several reconciliations
  statuses.set(pod, running());
  using signal = withTimeout(undefined, 30_000, 'wait for the next exchange about it');
  await waitFor(() => merges === 2 || undefined, { intervalMs: 2, signal });
  sync.stop();
});

test('after a restore from a backup, statuses are sent again, based on the server’s state', async () => {
  const { api, statuses, put, sync, reported, patches } = start();
  statuses.set(put('web'), running());
  await reported('web');
  const before = patches().length;
  const stored = api.stored.bind(api);
  api.stored = ((...asked: Parameters<typeof stored>) => {
    const now = stored(...asked)!;
    return { ...now, metadata: { ...now.metadata, resourceVersion: '50' }, status: { phase: 'Pending' } };
  }) as typeof api.stored;
  const { body } = await api.waitForCalls({ verb: 'patch' }, before + 1);
  sync.stop();
  assert.equal((body as { metadata: { resourceVersion?: string } }).metadata.resourceVersion, '50');
});

test('a pod deleted, kept by a finalizer, and restored from a backup is reported again', async () => {
  const { api, statuses, put, sync, patches } = start();
  api.script({ verb: 'delete' }, {}); // a finalizer keeps it
  const pod = put('web', { deletionTimestamp: '2026-01-01T00:00:00Z' });
  statuses.set(pod, { ...running(), phase: 'Succeeded' });
  await api.waitForCalls({ verb: 'delete' });
  const before = patches().length;
  put('web');
  await api.waitForCalls({ verb: 'patch' }, before + 1);
  sync.stop();
});
