import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiObject } from '@podwright/kube-kinds';
import { protectStorage } from './protect-storage.ts';
import { CLAIMS, PROTECTED, VOLUMES } from './storage-use.ts';
import { TestCluster } from './test-cluster.fixture.ts';

const CLASSES = 'volumeattributesclasses.storage.k8s.io';
const CLAIM = { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } };

const finalizersOf = (object: ApiObject | undefined) => object?.metadata.finalizers ?? [];

function cluster(): TestCluster {
  const made = new TestCluster();
  made.start(protectStorage);
  return made;
}

/** Creates a storage object, and waits until it has the protection finalizer. */
async function create(test: TestCluster, resource: string, path: string, fields: Record<string, unknown>) {
  await test.create(resource, path, fields);
  const { finalizer } = PROTECTED[resource]!;
  await test.until(() => finalizersOf(test.find(resource, path)).includes(finalizer));
}

function podWith(volume: object, nodeName = 'n1') {
  const containers = [{ name: 'c', image: 'i', volumeMounts: [{ name: 'v', mountPath: '/v' }] }];
  return { spec: { nodeName, containers, volumes: [{ name: 'v', ...volume }] } };
}

test('an unused claim is removed on deletion', async () => {
  await using test = cluster();
  await create(test, CLAIMS, 'x/data', { ...CLAIM, metadata: { finalizers: ['example.com/other'] } });
  assert.deepEqual(finalizersOf(test.find(CLAIMS, 'x/data')), ['example.com/other', 'kubernetes.io/pvc-protection']);
  await test.delete(CLAIMS, 'x/data');
  await test.until(() => finalizersOf(test.find(CLAIMS, 'x/data')).length === 1);
  await create(test, CLAIMS, 'x/other', CLAIM);
  await test.delete(CLAIMS, 'x/other');
  await test.until(() => test.find(CLAIMS, 'x/other') === undefined);
});

test('a claim remains while used by a scheduled pod, even a terminated one', async () => {
  await using test = cluster();
  await create(test, CLAIMS, 'x/data', CLAIM);
  const use = { persistentVolumeClaim: { claimName: 'data' } };
  await test.create('pods', 'x/p', podWith(use));
  await test.create('pods', 'x/unscheduled', podWith(use, ''));
  await test.create('pods', 'y/elsewhere', podWith(use));
  await test.delete(CLAIMS, 'x/data');
  await test.change('pods/status', 'x/p', (pod) => ({
    ...pod,
    status: { ...(pod.status as object), phase: 'Succeeded' },
  }));
  await test.atRest();
  assert.ok(test.find(CLAIMS, 'x/data'));
  await test.delete('pods', 'x/p', { gracePeriodSeconds: 0 });
  await test.until(() => test.find(CLAIMS, 'x/data') === undefined);
});

test('the claim of an ephemeral volume remains until its own pod has shut down', async () => {
  await using test = cluster();
  const template = { ephemeral: { volumeClaimTemplate: CLAIM } };
  const { metadata } = await test.create('pods', 'x/p', {
    ...podWith(template),
    metadata: { finalizers: ['example.com/slow'] },
  });
  const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: metadata.uid, controller: true };
  await create(test, CLAIMS, 'x/p-v', { ...CLAIM, metadata: { ownerReferences: [owner] } });
  await test.create('pods', 'x/q', podWith(template));
  await create(test, CLAIMS, 'x/q-v', CLAIM);
  await test.delete(CLAIMS, 'x/p-v');
  await test.delete(CLAIMS, 'x/q-v');
  await test.until(() => test.find(CLAIMS, 'x/q-v') === undefined); // it is not the pod's
  await test.atRest();
  assert.ok(test.find(CLAIMS, 'x/p-v'));
  await test.delete('pods', 'x/p', { gracePeriodSeconds: 0 });
  await test.until(() => test.find(CLAIMS, 'x/p-v') === undefined);
  assert.ok(test.find('pods', 'x/p'), 'the pod itself waits for its finalizer');
});

test('a volume remains while it is bound', async () => {
  await using test = cluster();
  const spec = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } };
  await create(test, VOLUMES, 'v', { spec });
  await test.change(`${VOLUMES}/status`, 'v', (volume) => ({ ...volume, status: { phase: 'Bound' } }));
  await test.delete(VOLUMES, 'v');
  await test.atRest();
  assert.ok(test.find(VOLUMES, 'v'));
  await test.change(`${VOLUMES}/status`, 'v', (volume) => ({ ...volume, status: { phase: 'Released' } }));
  await test.until(() => test.find(VOLUMES, 'v') === undefined);
});

test('a volume attributes class remains while a claim refers to it', async () => {
  await using test = cluster();
  await create(test, CLASSES, 'fast', { driverName: 'd.example.com', parameters: { iops: '1' } });
  await create(test, CLAIMS, 'x/data', { spec: { ...CLAIM.spec, volumeAttributesClassName: 'fast' } });
  await test.delete(CLASSES, 'fast');
  await test.atRest();
  assert.ok(test.find(CLASSES, 'fast'));
  await test.delete(CLAIMS, 'x/data');
  await test.until(() => test.find(CLASSES, 'fast') === undefined);
});
