import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PODS } from '@podwright/kube-client';
import { refusal } from '@podwright/kube-client/testing';
import type { Controller } from '../framework/controller.ts';
import { REPLICA_SETS, REPLICATION_CONTROLLERS, type ReplicaSet } from '../objects/replica-set.ts';
import { testPod } from '../pods/test-pod.fixture.ts';
import { TestPlace } from '../test-place.fixture.ts';
import { replicaSetController, replicationController } from './replica-set-controller.ts';

const LABELS = { app: 'web' };

function replicaSet(replicas: number, minReadySeconds = 0): ReplicaSet {
  const template = { metadata: { labels: LABELS }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const metadata = { namespace: 'shop', name: 'web', uid: 'u1', generation: 1 };
  return { metadata, spec: { replicas, minReadySeconds, selector: { matchLabels: LABELS }, template } };
}

class Place extends TestPlace {
  constructor(controller: Controller = replicaSetController) {
    super(controller);
  }

  get status() {
    return this.client.stored<ReplicaSet>(REPLICA_SETS, { namespace: 'shop', name: 'web' })?.status;
  }
}

test('a ReplicaSet gets pods from its template, with events', async () => {
  await using place = new Place();
  place.client.put(REPLICA_SETS, replicaSet(3));
  await place.until(() => place.status?.replicas === 3);
  const [pod] = await place.pods();
  assert.deepEqual(pod!.metadata.ownerReferences, [
    { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'u1', controller: true, blockOwnerDeletion: true },
  ]);
  assert.match(pod!.metadata.name, /^web-/);
  await place.until(() => place.events('SuccessfulCreate').length === 3);
  assert.equal(place.client.callsOf({ verb: 'create', plural: 'pods' }).length, 3);
});

test('a scale-down deletes surplus pods only once', async () => {
  await using place = new Place();
  place.client.put(REPLICA_SETS, replicaSet(4));
  await place.until(() => place.status?.replicas === 4);
  place.client.put(REPLICA_SETS, { ...replicaSet(1), status: place.status });
  await place.until(() => place.status?.replicas === 1);
  assert.equal((await place.pods()).length, 1);
  assert.equal(place.client.callsOf({ verb: 'delete', plural: 'pods' }).length, 3);
  await place.until(() => place.events('SuccessfulDelete').length === 3);
});

test('matching pods without a controller are adopted, and missing ones created', async () => {
  await using place = new Place();
  place.client.put(PODS, testPod({ name: 'orphan', labels: LABELS }));
  place.client.put(PODS, testPod({ name: 'other', labels: { app: 'db' } }));
  place.client.put(REPLICA_SETS, replicaSet(2));
  await place.until(() => place.status?.replicas === 2);
  const pods = await place.pods();
  assert.equal(pods.length, 3);
  const orphan = pods.find(({ metadata }) => metadata.name === 'orphan');
  assert.equal(orphan!.metadata.ownerReferences?.[0]?.uid, 'u1');
});

test('a rejected creation is reported as a condition and an event, and retried', async () => {
  await using place = new Place();
  const quota = refusal(403, 'Forbidden', 'exceeded quota');
  place.client.script({ verb: 'create', plural: 'pods' }, quota);
  place.client.put(REPLICA_SETS, replicaSet(5));
  await place.until(() => place.status?.replicas === 5 && place.status.conditions === undefined);
  assert.equal(place.client.callsOf({ verb: 'create', plural: 'pods' }).length, 6);
  const reported = place.client.callsOf({ verb: 'update', subresource: 'status' }).flatMap(({ body }) => {
    return ((body as ReplicaSet).status?.conditions ?? []).map(({ reason, message }) => `${reason}: ${message}`);
  });
  assert.equal(reported[0], 'FailedCreate: exceeded quota');
  await place.until(() => place.events('FailedCreate')[0] === 'Error creating: exceeded quota');
});

test('a pod counts as available after minReadySeconds', async () => {
  await using place = new Place();
  place.client.put(REPLICA_SETS, replicaSet(1, 1));
  await place.until(() => place.status?.replicas === 1);
  const [pod] = await place.pods();
  place.client.put(PODS, { ...pod!, status: testPod({ readySinceMs: Date.now() }).status });
  await place.until(() => place.status?.readyReplicas === 1);
  assert.equal(place.status?.availableReplicas, 0);
  await place.until(() => place.status?.availableReplicas === 1);
});

test('a ReplicationController works the same way, without a count of terminating pods', async () => {
  await using place = new Place(replicationController);
  const { spec, ...rest } = replicaSet(2);
  place.client.put(REPLICATION_CONTROLLERS, { ...rest, spec: { ...spec, selector: LABELS } } as unknown as ReplicaSet);
  const stored = () => place.client.stored<ReplicaSet>(REPLICATION_CONTROLLERS, { namespace: 'shop', name: 'web' });
  await place.until(() => stored()?.status?.replicas === 2);
  assert.equal(stored()!.status!.terminatingReplicas, undefined);
  assert.equal((await place.pods())[0]!.metadata.ownerReferences![0]!.apiVersion, 'v1');
});

test('pods in another namespace with the ReplicaSet’s UID are neither counted nor deleted', async () => {
  await using place = new Place();
  const controller = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'u1', controller: true };
  const foreign = testPod({ name: 'foreign', labels: LABELS, controller });
  place.client.put(PODS, { ...foreign, metadata: { ...foreign.metadata, namespace: 'other' } });
  place.client.put(REPLICA_SETS, replicaSet(1));
  await place.until(() => place.status?.replicas === 1);
  assert.equal((await place.pods()).length, 2);
  place.client.put(REPLICA_SETS, { ...replicaSet(0), status: place.status });
  await place.until(() => place.status?.replicas === 0);
  assert.deepEqual(
    (await place.pods()).map(({ metadata }) => metadata.name),
    ['foreign'],
  );
});

test('at most a thousand pods wait to start, however many replicas, and creation continues as they start', async () => {
  await using place = new Place();
  place.client.put(REPLICA_SETS, replicaSet(2 ** 31 - 1));
  await place.until(() => place.status?.replicas === 1000);
  const [pod] = await place.pods();
  place.client.put(PODS, { ...pod!, status: testPod({ readySinceMs: Date.now() }).status });
  await place.until(() => place.status?.replicas === 1001);
  assert.equal((await place.pods()).length, 1001);
});

test('pods that fail repeatedly are replaced with an increasing delay', async () => {
  await using place = new Place();
  const failed = { phase: 'Failed', reason: 'NodePorts', message: 'ports are in use' } as const;
  place.client.put(REPLICA_SETS, replicaSet(1));
  const failAll = async () => {
    for (const pod of await place.pods())
      if (pod.status?.phase !== 'Failed') place.client.put(PODS, { ...pod, status: failed });
  };
  const begin = Date.now();
  await place.until(async () => {
    await failAll();
    return place.events('BackOff').length > 0;
  });
  assert.match(place.events('BackOff')[0]!, /^Pod web-\S+ has failed \(NodePorts: ports are in use\)/);
  await place.until(async () => {
    await failAll();
    return (await place.pods()).length === 3;
  });
  assert.ok(Date.now() - begin >= 900, 'the first pod is replaced at once, the second one after a second');
});
