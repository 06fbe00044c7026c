import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject, Pod } from '../api/objects.ts';
import { rolloutOf } from './rollout.ts';
import type { Level, PodView } from './trouble.ts';

const viewOf = (hash: string, level: Level, created: string): PodView => ({
  pod: {
    metadata: {
      ...{ name: `shop-${hash}`, namespace: 'store', uid: hash, creationTimestamp: created },
      labels: { app: 'shop', 'pod-template-hash': hash },
    },
  } as unknown as Pod,
  ...{ level, ready: '0/1', status: 'Running', restarts: 0 },
});

function deployment(reason: string, status: object = {}): KubeObject {
  const conditions = [{ type: 'Progressing', status: 'True', reason }];
  return {
    metadata: { name: 'shop', namespace: 'store', uid: 'd' },
    spec: { replicas: 2, selector: { matchLabels: { app: 'shop' } } },
    status: { replicas: 2, updatedReplicas: 2, availableReplicas: 1, conditions, ...status },
  } as unknown as KubeObject;
}

const [early, late] = ['2026-01-01T00:00:00Z', '2026-01-01T00:10:00Z'];

test('pods that fail after the end of a rollout are no rollout', () => {
  assert.equal(rolloutOf('Deployment', deployment('NewReplicaSetAvailable'), []), undefined);
  const failing = [viewOf('a', 'failing', early)];
  assert.equal(rolloutOf('Deployment', deployment('NewReplicaSetAvailable'), failing), undefined);
  const waiting = {
    metadata: { name: 'gallery', namespace: 'store', uid: 's' },
    spec: { replicas: 1 },
    status: { replicas: 1, updatedReplicas: 1, currentRevision: 'gallery-1', updateRevision: 'gallery-1' },
  } as unknown as KubeObject;
  assert.equal(rolloutOf('StatefulSet', waiting, []), undefined);
});

test('a rollout is stuck if a pod of the newest template fails, but not because of earlier ones', () => {
  const rolling = deployment('ReplicaSetUpdated', { replicas: 3, updatedReplicas: 1, availableReplicas: 2 });
  const isStuck = (...views: PodView[]) => rolloutOf('Deployment', rolling, views)?.isStuck;
  assert.equal(isStuck(), false);
  assert.equal(isStuck(viewOf('a', 'well', early), viewOf('b', 'starting', late)), false);
  assert.equal(isStuck(viewOf('a', 'well', early), viewOf('b', 'failing', late)), true);
  assert.equal(isStuck(viewOf('a', 'failing', early), viewOf('b', 'starting', late)), false);
});

test('a rollout whose controller reports a failure is stuck', () => {
  const { isStuck, failure } = rolloutOf('Deployment', deployment('ProgressDeadlineExceeded'), [])!;
  assert.deepEqual([isStuck, failure], [true, 'ProgressDeadlineExceeded']);
});

test('a first rollout is in progress until its pods have been available', () => {
  assert.equal(rolloutOf('Deployment', deployment('ReplicaSetUpdated'), [])!.isStuck, false);
});

test('a rollout is shown from its first change until all its pods are available', () => {
  const rollingOf = (status: object) => ({
    metadata: { name: 'web', namespace: 'n', generation: 2 },
    ...{ spec: { replicas: 3 }, status: { observedGeneration: 2, ...status } },
  });
  const complete = { replicas: 3, updatedReplicas: 3, availableReplicas: 3 };
  assert.equal(rolloutOf('Deployment', rollingOf(complete), []), undefined);
  const half = rolloutOf('Deployment', rollingOf({ replicas: 4, updatedReplicas: 2, availableReplicas: 3 }), []);
  assert.deepEqual([half?.wanted, half?.updated, half?.old, half?.available], [3, 2, 2, 3]);
  const failed = rolloutOf(
    'Deployment',
    rollingOf({
      ...complete,
      conditions: [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded', message: 'too slow' }],
    }),
    [],
  );
  assert.equal(failed?.failure, 'ProgressDeadlineExceeded: too slow');
});
