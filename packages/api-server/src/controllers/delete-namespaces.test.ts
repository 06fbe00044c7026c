import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pause } from '@podwright/base';
import { objectsAt } from '@podwright/kube-kinds';
import type { ControllerParts } from './controller-parts.ts';
import { deleteNamespaces } from './delete-namespaces.ts';
import { TestCluster } from './test-cluster.fixture.ts';

const NAMESPACED = ['configmaps', 'pods', 'deployments.apps'];
const SLOW = { metadata: { finalizers: ['example.com/slow'] } };

const start = (test: TestCluster, change: (parts: ControllerParts) => ControllerParts = (parts) => parts) =>
  test.start((parts) => deleteNamespaces({ ...change(parts), namespaced: () => NAMESPACED }));

function conditionsOf(test: TestCluster): Record<string, string> {
  const conditions = objectsAt(test.find('namespaces', 'x'), 'status', 'conditions');
  return Object.fromEntries(
    conditions.map(({ type, status, reason, message }) => [type, `${status} ${reason}: ${message}`]),
  );
}

test('a namespace is removed with everything in it, and others remain', async () => {
  await using test = new TestCluster();
  start(test);
  for (const namespace of ['x', 'y']) {
    await test.create('namespaces', namespace);
    await test.create('configmaps', `${namespace}/a`);
  }
  await test.delete('namespaces', 'x');
  await test.until(() => test.find('namespaces', 'x') === undefined);
  assert.equal(test.find('configmaps', 'x/a'), undefined);
  assert.ok(test.find('configmaps', 'y/a'));
});

test('the pods of a namespace are deleted before everything else', async () => {
  await using test = new TestCluster();
  start(test);
  await test.create('namespaces', 'x');
  await test.create('configmaps', 'x/a');
  await test.create('pods', 'x/p', { ...SLOW, spec: { containers: [{ name: 'a', image: 'a' }] } });
  await test.delete('namespaces', 'x');
  await test.until(() => 'NamespaceContentRemaining' in conditionsOf(test));
  assert.equal(test.find('configmaps', 'x/a')?.metadata.deletionTimestamp, undefined);
  await test.change('pods', 'x/p', (one) => ({ ...one, metadata: { ...one.metadata, finalizers: [] } }));
  await test.until(() => test.find('namespaces', 'x') === undefined);
});

test('a namespace’s conditions show what its deletion is waiting for', async () => {
  await using test = new TestCluster();
  start(test);
  await test.create('namespaces', 'x');
  for (const name of ['a', 'b']) await test.create('configmaps', `x/${name}`, SLOW);
  await test.delete('namespaces', 'x');
  await test.until(() => Object.keys(conditionsOf(test)).length > 0);
  assert.deepEqual(conditionsOf(test), {
    NamespaceDeletionDiscoveryFailure: 'False ResourcesDiscovered: All resources successfully discovered',
    NamespaceDeletionGroupVersionParsingFailure: 'False ParsedGroupVersions: All legacy kube types successfully parsed',
    NamespaceDeletionContentFailure:
      'False ContentDeleted: All content successfully deleted, may be waiting on finalization',
    NamespaceContentRemaining:
      'True SomeResourcesRemain: Some resources are remaining: configmaps. has 2 resource instances',
    NamespaceFinalizersRemaining:
      'True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: example.com/slow in 2 resource instances',
  });
  test.nowMs += 60_000;
  const { revision } = test.store;
  await pause(500, new AbortController().signal); // further attempts
  assert.equal(test.store.revision, revision, 'the same state is not written again');
  for (const name of ['a', 'b'])
    await test.change('configmaps', `x/${name}`, (one) => ({ ...one, metadata: { ...one.metadata, finalizers: [] } }));
  await test.until(() => test.find('namespaces', 'x') === undefined);
});

test('a failed deletion of one resource is reported, and does not stop the others', async () => {
  await using test = new TestCluster();
  let isBroken = true;
  start(test, (parts) => ({
    ...parts,
    registryOf: (resource) => {
      if (resource === 'configmaps' && isBroken) throw new Error('refused');
      return parts.registryOf(resource);
    },
  }));
  await test.create('namespaces', 'x');
  await test.create('configmaps', 'x/a');
  await test.create('deployments.apps', 'x/d', {
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
  });
  await test.delete('namespaces', 'x');
  await test.until(() => Object.keys(conditionsOf(test)).length > 0);
  assert.equal(test.find('deployments.apps', 'x/d'), undefined);
  const { NamespaceDeletionContentFailure: failure } = conditionsOf(test);
  assert.equal(failure, 'True ContentDeletionFailed: Failed to delete all resource types, 1 remaining: refused');
  assert.match(test.warnings[0] ?? '', /"error":"refused"/);
  isBroken = false;
  await test.until(() => test.find('namespaces', 'x') === undefined);
});
