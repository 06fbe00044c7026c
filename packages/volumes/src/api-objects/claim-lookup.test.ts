import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Logger, silentLogger } from '@podwright/base';
import type { KubeObject } from '@podwright/kube-api';
import { PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES } from '@podwright/kube-client';
import { FakeKubeClient } from '@podwright/kube-client/testing';
import { ClaimLookup, type ClaimLookupOptions } from './claim-lookup.ts';
import { NEVER, podOf } from './fake-needs.fixture.ts';

const PLACE = { namespace: 'shop', name: 'data' };
const CLAIM = { metadata: { ...PLACE, uid: 'c1' }, spec: { volumeName: 'pv1' }, status: { phase: 'Bound' } };
const VOLUME = { metadata: { name: 'pv1' }, spec: { claimRef: { uid: 'c1' }, local: { path: '/data' } } };
const pod = podOf('db', {});

async function check(objects: { claim?: KubeObject; volume?: KubeObject }, expected: string): Promise<void> {
  const client = new FakeKubeClient();
  if (objects.claim) client.put(PERSISTENT_VOLUME_CLAIMS, objects.claim);
  if (objects.volume) client.put(PERSISTENT_VOLUMES, objects.volume);
  await assert.rejects(new ClaimLookup({ client, logger: silentLogger }).volumeOf(pod, 'data', NEVER), {
    message: `error processing PVC shop/data: ${expected}`,
  });
}

test('the volume of a bound claim is looked up once per pod, and served from the cache while the API server is unavailable', async () => {
  const client = new FakeKubeClient();
  client.put(PERSISTENT_VOLUME_CLAIMS, CLAIM);
  client.put(PERSISTENT_VOLUMES, VOLUME);
  const lookup = new ClaimLookup({ client, logger: silentLogger });
  const [{ volume }] = await Promise.all([lookup.volumeOf(pod, 'data', NEVER), lookup.volumeOf(pod, 'data', NEVER)]);
  assert.equal(volume.spec.local?.path, '/data');
  assert.equal(client.calls.length, 2);
  lookup.release('uid-db');
  await lookup.volumeOf(pod, 'data', NEVER);
  assert.equal(client.calls.length, 4);
});

test('the error for a waiting pod has upstream’s message', async () => {
  const claimWith = (rest: object) => ({ claim: { ...CLAIM, ...rest } as KubeObject, volume: VOLUME });
  await check({}, 'failed to fetch PVC from API server: persistentvolumeclaims "data" not found');
  await check(claimWith({ status: { phase: 'Pending' } }), 'PVC is not bound');
  await check(claimWith({ status: undefined }), 'PVC is not bound');
  await check(claimWith({ spec: {} }), 'PVC has empty pvc.Spec.VolumeName');
  const deleted = { ...CLAIM.metadata, deletionTimestamp: '2026-11-23T00:00:00Z' };
  await check(claimWith({ metadata: deleted }), 'PVC is being deleted');
  await check({ claim: CLAIM }, 'failed to fetch PV pv1 from API server: persistentvolumes "pv1" not found');
  const volumeWith = (spec: object) => ({ claim: CLAIM, volume: { ...VOLUME, spec } as KubeObject });
  await check(
    volumeWith({}),
    'found PV object pv1 but it has a nil pv.Spec.ClaimRef indicating it is not yet bound to the claim',
  );
  await check(
    volumeWith({ claimRef: { uid: 'other' } }),
    'found PV object pv1 but its pv.Spec.ClaimRef.UID other does not point to claim.UID c1',
  );
});

test('a protected claim that is being deleted can still be used', async () => {
  const client = new FakeKubeClient();
  const metadata = {
    ...CLAIM.metadata,
    deletionTimestamp: '2026-11-23T00:00:00Z',
    finalizers: ['kubernetes.io/pvc-protection'],
  };
  client.put(PERSISTENT_VOLUME_CLAIMS, { ...CLAIM, metadata } as KubeObject);
  client.put(PERSISTENT_VOLUMES, VOLUME);
  assert.equal(
    (await new ClaimLookup({ client, logger: silentLogger }).volumeOf(pod, 'data', NEVER)).volume.metadata.name,
    'pv1',
  );
});

test('reads of one claim do not overlap, and their errors are logged at debug level', async () => {
  let nowMs = 0;
  let answer = Promise.withResolvers<never>();
  const asked: string[] = [];
  const lines: unknown[] = [];
  const found = [CLAIM, { ...VOLUME, spec: { ...VOLUME.spec, csi: { driver: 'd', volumeHandle: 'h' } } }];
  const get = async (_kind: unknown, { name }: { name: string }) => {
    asked.push(name);
    return found.shift() ?? answer.promise;
  };
  const lookup = new ClaimLookup({
    client: { get } as unknown as ClaimLookupOptions['client'],
    logger: { ...silentLogger, debug: (fields: unknown) => void lines.push(fields) } as Logger,
    now: () => nowMs,
  });
  const look = async () => {
    nowMs += 60_000;
    await lookup.volumeOf(pod, 'data', NEVER);
  };
  for (let times = 0; times < 3; times++) await look();
  assert.deepEqual(asked, ['data', 'pv1', 'data']);
  answer.reject(new Error('no room'));
  await new Promise(setImmediate);
  assert.deepEqual(lines, [{ uid: 'uid-db', claim: 'data', error: 'failed to fetch PVC from API server: no room' }]);
  answer = Promise.withResolvers();
  await look();
  assert.equal(asked.length, 4);
});
