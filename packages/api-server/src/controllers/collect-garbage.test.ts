import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collectGarbage } from './collect-garbage.ts';
import { TestCluster } from './test-cluster.fixture.ts';

const FOREGROUND = { propagationPolicy: 'Foreground' };

const start = (test: TestCluster) =>
  test.start((parts) =>
    collectGarbage({
      ...parts,
      resources: { names: () => ['configmaps'], onChange: () => undefined },
      locate: ({ kind, name }, namespace) => ({ resource: `${kind.toLowerCase()}s`, namespace, name }),
    }),
  );

async function own(test: TestCluster, owner: string, dependent: string): Promise<void> {
  const { name = '', uid = '' } = test.find('configmaps', owner)!.metadata;
  const reference = { apiVersion: 'v1', kind: 'ConfigMap', name, uid, blockOwnerDeletion: true };
  await test.change('configmaps', dependent, ({ metadata, ...object }) => ({
    ...object,
    metadata: { ...metadata, ownerReferences: [...(metadata.ownerReferences ?? []), reference] },
  }));
}

async function withObjects(test: TestCluster, names: readonly string[]): Promise<void> {
  for (const name of names) await test.create('configmaps', `x/${name}`);
}

test('foreground deletion deletes an owner after its dependents', async () => {
  await using test = new TestCluster();
  start(test);
  await withObjects(test, ['a', 'b']);
  await own(test, 'x/a', 'x/b');
  await test.change('configmaps', 'x/b', (one) => ({
    ...one,
    metadata: { ...one.metadata, finalizers: ['a.test/b'] },
  }));
  await test.delete('configmaps', 'x/a', FOREGROUND);
  await test.until(() => test.find('configmaps', 'x/b')?.metadata.deletionTimestamp !== undefined);
  await test.atRest();
  assert.ok(test.find('configmaps', 'x/a'));
  await test.change('configmaps', 'x/b', (one) => ({ ...one, metadata: { ...one.metadata, finalizers: [] } }));
  await test.until(() => test.find('configmaps', 'x/a') === undefined);
});

const CIRCLES = [['a'], ['a', 'b'], ['a', 'b', 'c']];
for (const names of CIRCLES)
  test(`owners in a circle of ${names.length} are deleted in the foreground`, async () => {
    await using test = new TestCluster();
    start(test);
    await withObjects(test, names);
    for (const [index, name] of names.entries()) await own(test, `x/${name}`, `x/${names[(index + 1) % names.length]}`);
    await test.delete('configmaps', 'x/a', FOREGROUND);
    await test.until(() => names.every((name) => test.find('configmaps', `x/${name}`) === undefined));
  });

for (const changed of [{ namespace: 'y' }, { name: 'other' }, { kind: 'Secret' }])
  test(`a reference with ${Object.keys(changed)[0]} of another object does not hold a foreground deletion`, async () => {
    await using test = new TestCluster();
    start(test);
    const { namespace, ...others } = { namespace: 'x', ...changed };
    const foreign = `${namespace}/b`;
    await withObjects(test, ['a']);
    await test.create('configmaps', foreign);
    const { uid = '' } = test.find('configmaps', 'x/a')!.metadata;
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', ...others, uid, blockOwnerDeletion: true };
    await test.change('configmaps', foreign, (one) => ({
      ...one,
      metadata: { ...one.metadata, ownerReferences: [reference], finalizers: ['a.test/b'] },
    }));
    await test.delete('configmaps', 'x/a', FOREGROUND);
    await test.until(() => test.find('configmaps', 'x/a') === undefined);
  });
