import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testDeployment, testSet } from './deployment.fixture.ts';
import { newReplicaSet } from './new-replica-set.ts';
import { isSameTemplate, newAndOld, replicaSetName, templateHash } from './template-identity.ts';

const template = (spec: object, metadata: object = {}) => ({ metadata, spec }) as never;

test('templates are equal regardless of the hash, key order and absent fields', () => {
  const a = template({ containers: [{ name: 'c', image: 'i' }], volumes: [] }, { labels: { a: '1' } });
  const b = template(
    { containers: [{ image: 'i', name: 'c', resources: {} }] },
    { labels: { 'pod-template-hash': 'x', a: '1' }, creationTimestamp: null },
  );
  assert.ok(isSameTemplate(a, b));
  assert.ok(!isSameTemplate(a, template({ containers: [{ name: 'c', image: 'j' }] }, { labels: { a: '1' } })));
  const volume = (source: object) => template({ containers: [], volumes: [{ name: 'v', ...source }] });
  assert.ok(!isSameTemplate(volume({ emptyDir: {} }), volume({})));
});

test('the hash depends on the template and the collision count', () => {
  const hash = templateHash(testDeployment());
  assert.match(hash, /^[bcdfghjklmnpqrstvwxz2456789]{6,10}$/);
  assert.equal(hash, templateHash(testDeployment({ spec: { replicas: 3 } })));
  assert.notEqual(hash, templateHash(testDeployment({ spec: { image: 'v2' } })));
  assert.notEqual(hash, templateHash(testDeployment({ status: { collisionCount: 1 } })));
});

test('a long name is shortened', () => {
  assert.equal(replicaSetName('web', 'abc'), 'web-abc');
  assert.equal(replicaSetName('x'.repeat(253), 'abc').length, 253);
});

test('if several ReplicaSets match the template, the oldest is the new one', () => {
  const deployment = testDeployment();
  const sets = [1, 2].map((revision) => testSet(deployment, { image: 'v1', size: 1, revision }));
  const { newSet, oldSets } = newAndOld(deployment, sets.toReversed());
  assert.deepEqual([newSet, oldSets], [sets[0], [sets[1]]]);
});

test('a new ReplicaSet has the hash in its labels, selector and template', () => {
  const deployment = testDeployment({ spec: { minReadySeconds: 3 }, metadata: { annotations: { note: 'x' } } });
  const hash = templateHash(deployment);
  const { metadata, spec } = newReplicaSet(deployment, 4, 7);
  const labels = { app: 'web', 'pod-template-hash': hash };
  assert.deepEqual(
    [
      metadata.name,
      metadata.labels,
      spec.selector,
      spec.template.metadata?.labels,
      spec.replicas,
      spec.minReadySeconds,
    ],
    [`web-${hash}`, labels, { matchLabels: labels }, labels, 4, 3],
  );
  assert.deepEqual(metadata.annotations, {
    note: 'x',
    'deployment.kubernetes.io/revision': '7',
    'deployment.kubernetes.io/desired-replicas': '10',
    'deployment.kubernetes.io/max-replicas': '13',
  });
});
