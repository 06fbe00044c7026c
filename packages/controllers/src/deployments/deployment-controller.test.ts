import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PODS } from '@podwright/kube-client';
import { refusal } from '@podwright/kube-client/testing';
import { DEPLOYMENTS, type Deployment } from '../objects/deployment.ts';
import { REPLICA_SETS, type ReplicaSet } from '../objects/replica-set.ts';
import { testPod } from '../pods/test-pod.fixture.ts';
import { replicaSetController } from '../replica-sets/replica-set-controller.ts';
import { TestPlace } from '../test-place.fixture.ts';
import { type Changes, testDeployment } from './deployment.fixture.ts';
import { deploymentController } from './deployment-controller.ts';
import { newReplicaSet } from './new-replica-set.ts';

const PLACE = { namespace: 'shop', name: 'web' };

class Place extends TestPlace {
  constructor() {
    super(deploymentController, (parts) => replicaSetController(parts));
  }

  apply(spec: Changes['spec']): void {
    const known = this.client.stored<Deployment>(DEPLOYMENTS, PLACE);
    const { metadata, status } = known ?? {};
    this.client.put(DEPLOYMENTS, testDeployment({ metadata, status, spec: { replicas: 3, ...spec } }));
  }

  get status() {
    return this.client.stored<Deployment>(DEPLOYMENTS, PLACE)?.status;
  }

  async sets(): Promise<ReplicaSet[]> {
    return (await this.client.list<ReplicaSet>(REPLICA_SETS, {})).items;
  }

  reason(type = 'Progressing'): string | undefined {
    return this.status?.conditions?.find((one) => one.type === type)?.reason;
  }

  /** Waits for a condition, acting as the kubelet meanwhile: marks new pods as ready. */
  async untilWithKubelet(check: () => unknown): Promise<void> {
    await this.until(async () => {
      for (const pod of await this.pods()) {
        if (pod.status === undefined) this.client.put(PODS, { ...pod, status: testPod({ readySinceMs: 0 }).status });
      }
      return await check();
    });
  }

  isDone =
    (image: string, replicas = 3) =>
    async () => {
      const images = (await this.pods()).map(({ spec }) => spec.containers[0]!.image);
      return (
        this.reason() === 'NewReplicaSetAvailable' && images.length === replicas && images.every((one) => one === image)
      );
    };
}

test('a Deployment is rolled out, updated and rolled back, with events, revisions and conditions', async () => {
  await using place = new Place();
  place.apply({});
  await place.untilWithKubelet(place.isDone('v1'));
  const [first] = await place.sets();
  await place.until(() => place.events('ScalingReplicaSet').length === 1);
  assert.deepEqual(place.events('ScalingReplicaSet'), [`Scaled up replica set ${first!.metadata.name} from 0 to 3`]);
  place.apply({ image: 'v2' });
  await place.untilWithKubelet(place.isDone('v2'));
  const revisionOf = ({ metadata }: { metadata: Deployment['metadata'] }) =>
    metadata.annotations?.['deployment.kubernetes.io/revision'];
  assert.deepEqual((await place.sets()).map(revisionOf), ['1', '2']);
  place.apply({ image: 'v1' });
  await place.untilWithKubelet(place.isDone('v1'));
  assert.deepEqual((await place.sets()).map(revisionOf), ['3', '2']);
  assert.equal(revisionOf(place.client.stored<Deployment>(DEPLOYMENTS, PLACE)!), '3');
  assert.equal(place.reason('Available'), 'MinimumReplicasAvailable');
  const { observedGeneration, replicas, updatedReplicas, readyReplicas, availableReplicas } = place.status!;
  assert.deepEqual([observedGeneration, replicas, updatedReplicas, readyReplicas, availableReplicas], [1, 3, 3, 3, 3]);
});

test('the Recreate strategy ends all old pods before creating new ones', async () => {
  await using place = new Place();
  const strategy = { type: 'Recreate' as const };
  place.apply({ strategy });
  await place.untilWithKubelet(place.isDone('v1'));
  place.apply({ strategy, image: 'v2' });
  await place.untilWithKubelet(async () => {
    const images = new Set((await place.pods()).map(({ spec }) => spec.containers[0]!.image));
    assert.ok(images.size <= 1);
    return await place.isDone('v2')();
  });
});

test('a failed ReplicaSet creation is reported, and retried later', async () => {
  await using place = new Place();
  place.client.script({ verb: 'create', plural: 'replicasets' }, refusal(403, 'Forbidden', 'no quota'));
  place.apply({});
  await place.untilWithKubelet(place.isDone('v1'));
  await place.until(() => place.events('ReplicaSetCreateError').length === 1);
  assert.match(place.events('ReplicaSetCreateError')[0]!, /^Failed to create new replica set "web-\w+": no quota$/);
});

test('an existing ReplicaSet with the same name but another template is a collision', async () => {
  await using place = new Place();
  const wanted = newReplicaSet(testDeployment(), 3, 1);
  const other = newReplicaSet(testDeployment({ spec: { image: 'other' } }), 0, 1);
  const { ownerReferences: _owner, ...metadata } = wanted.metadata;
  const labels = { unrelated: 'x' };
  place.client.put(REPLICA_SETS, { ...other, metadata: { ...metadata, labels } } as unknown as ReplicaSet);
  place.apply({});
  await place.untilWithKubelet(place.isDone('v1'));
  assert.equal(place.status?.collisionCount, 1);
  assert.equal((await place.sets()).length, 2);
});

test('a matching ReplicaSet without a controller is adopted', async () => {
  await using place = new Place();
  const { metadata, ...rest } = newReplicaSet(testDeployment({ spec: { replicas: 3 } }), 3, 1);
  const { ownerReferences: _owner, ...orphan } = metadata;
  place.client.put(REPLICA_SETS, { ...rest, metadata: { ...orphan, uid: 'r1' } });
  place.apply({});
  await place.untilWithKubelet(place.isDone('v1'));
  const sets = await place.sets();
  assert.deepEqual(
    sets.map((one) => one.metadata.ownerReferences?.[0]?.uid),
    ['u1'],
  );
});
