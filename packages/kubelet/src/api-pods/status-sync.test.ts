import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger, sleep, waitFor, withTimeout } from '@podwright/base';
import { type KubeObject, PODS } from '@podwright/kube-client';
import { refusal } from '@podwright/kube-client/testing';
import type { PodStatus } from '../api/types.ts';
import { StatusManager } from '../status/status-manager.ts';
import { apiPod, fakeApi } from './api-pods.fixture.ts';
import { decodeApiPod } from './decode-api-pod.ts';
import { StatusSync } from './status-sync.ts';

/** A sync of pods that the API server has, each shown as it is there, and finished unless `couldRun`. */
function start({ couldRun = false, api = fakeApi(), logger = silentLogger } = {}) {
  const statuses = new StatusManager();
  const place = (uid: string) => ({ namespace: 'default', name: uid.slice('uid-'.length) });
  const sync = new StatusSync({
    ...{ client: api, statuses, logger, reconcileMs: 20 },
    shownAs: (uid) => {
      const decoded = decodeApiPod(api.stored(PODS, place(uid)), 0);
      return decoded.kind === 'pod' ? { pod: decoded.pod, isMirror: false } : undefined;
    },
    couldRun: () => couldRun,
    isFinished: () => !couldRun,
  });
  sync.start();
  const put = (name: string, more: object = {}) => api.put(PODS, apiPod(name, { ...more }));
  const status = (name: string) => api.stored<ReturnType<typeof apiPod>>(PODS, { namespace: 'default', name })?.status;
  const patches = () => api.callsOf({ verb: 'patch', plural: 'pods' });
  const told = async (name: string) => {
    using signal = withTimeout(undefined, 30_000, `wait for the status of ${name}`);
    await waitFor(() => status(name)?.phase === 'Running' || undefined, { intervalMs: 2, signal });
  };
  return { api, statuses, sync, put, status, patches, told };
}

const running = (podIP = '192.0.2.9'): PodStatus => ({ phase: 'Running', podIP, podIPs: [{ ip: podIP }] });

test('while a status is under way the changes of its pod wait, and are sent in one', async () => {
  const { api, statuses, put, sync, patches, status } = start();
  const pod = put('web');
  const answered = Promise.withResolvers<object>();
  api.script({ verb: 'get', name: 'web' }, () => answered.promise);
  for (const ip of ['192.0.2.1', '192.0.2.2', '192.0.2.3']) statuses.set(pod, running(ip));
  await api.waitForCalls({ verb: 'get' });
  statuses.set(pod, running('192.0.2.4'));
  statuses.set(pod, running('192.0.2.5'));
  answered.resolve(pod);
  await api.waitForCalls({ verb: 'patch' }, 2);
  await api.waitForCalls({ verb: 'get' }, 2);
  assert.equal(patches().length, 2);
  assert.equal(status('web')!.podIP, '192.0.2.5');
  sync.stop();
});

test('what somebody else makes of a status is put right', async () => {
  const { api, statuses, put, sync, told } = start();
  statuses.set(put('web'), running());
  await told('web');
  put('web');
  await told('web');
  assert.equal(api.callsOf({ verb: 'patch' }).length, 2);
  sync.stop();
});

test('what an API server does not know of a status is not sent again and again', async () => {
  const api = fakeApi(() => api.put(PODS, { ...apiPod('web'), status: { phase: 'Running' } } as KubeObject));
  const { statuses, put, sync, patches, told } = start({ api });
  statuses.set(put('web'), running());
  await api.waitForCalls({ verb: 'patch' });
  for (const name of ['a', 'b', 'c']) {
    statuses.set(put(name), running());
    await told(name);
    put(name); // put right by the next look
    await told(name);
  }
  assert.equal(patches().filter(({ place }) => place!.name === 'web').length, 1);
  sync.stop();
});

test('a pod that is gone, another one of its name, and one that nobody may see are left alone', async () => {
  for (const error of [refusal(404, 'NotFound'), refusal(403, 'Forbidden'), refusal(409, 'Conflict')]) {
    const { api, statuses, put, sync, patches } = start();
    const pod = put('web');
    const another = { ...pod, metadata: { ...pod.metadata, uid: 'another' } };
    let before = -1;
    api.script({ verb: 'get' }, error, another, () => {
      before = patches().length;
      return pod;
    });
    statuses.set(pod, running());
    await api.waitForCalls({ verb: 'patch' });
    assert.equal(before, 0);
    sync.stop();
  }
});

test('what failed is tried again', async () => {
  const faults = [refusal(500, 'InternalError'), refusal(422, 'Invalid'), refusal(503, 'ServiceUnavailable')];
  const { api, statuses, put, sync, status } = start({ api: fakeApi(...faults) });
  statuses.set(put('web'), running());
  await api.waitForCalls({ verb: 'patch' }, 4);
  await api.waitForCalls({ verb: 'get' }, 4);
  assert.equal(status('web')!.phase, 'Running');
  sync.stop();
});

test('an end is not told before nothing of the pod runs any more', async () => {
  const { api, statuses, put, sync, status } = start({ couldRun: true });
  const pod = put('web', { deletionTimestamp: '2026-01-01T00:00:00Z' });
  statuses.set(pod, { ...running(), phase: 'Failed', reason: 'Evicted' });
  await api.waitForCalls({ verb: 'patch' });
  assert.deepEqual([status('web')!.phase, status('web')!.reason], ['Pending', undefined]);
  assert.equal(api.callsOf({ verb: 'delete' }).length, 0);
  sync.stop();
});

test('a status that the API server refuses is in the log once, until it is taken', async () => {
  const told: string[] = [];
  const logger = { ...silentLogger, warn: (fields: object) => void told.push((fields as { error: string }).error) };
  const refusals = [refusal(403, 'Forbidden'), refusal(409, 'Conflict'), refusal(403, 'Forbidden')];
  const { api, statuses, put, sync, told: taken } = start({ api: fakeApi(...refusals), logger });
  statuses.set(put('web'), running());
  await taken('web');
  assert.deepEqual(told, ['fake call: Forbidden']);
  api.script({ verb: 'get' }, refusal(403, 'Forbidden again'));
  statuses.set(put('web'), running('192.0.2.10'));
  await api.waitForCalls({ verb: 'patch' }, 5);
  assert.deepEqual(told, ['fake call: Forbidden', 'fake call: Forbidden again']);
  sync.stop();
});

test('what comes back for a pod that is gone is forgotten', async () => {
  const { api, statuses, put, sync } = start();
  const pod = put('web');
  const under = Promise.withResolvers<void>();
  api.script({ verb: 'patch' }, () => under.promise.then(() => put('web', {})));
  statuses.set(pod, running());
  await api.waitForCalls({ verb: 'patch' });
  statuses.delete(pod.metadata.uid);
  under.resolve();
  await sleep(100); // a few looks
  statuses.set(pod, running());
  await api.waitForCalls({ verb: 'get' }, 2);
  sync.stop();
});
