import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withValue } from '@podwright/kube-kinds';
import { bindPods } from './bind-pods.ts';
import { TestCluster } from './test-cluster.fixture.ts';

const POD = { spec: { containers: [{ name: 'a', image: 'a' }] } };

/** Runs the controller with a `bind` that fails `failures` times. */
function start(test: TestCluster, failures = 0): string[] {
  const bound: string[] = [];
  test.start((parts) =>
    bindPods({
      ...parts,
      bind: async ({ namespace, name }, node) => {
        if (failures-- > 0) throw new Error('no space');
        bound.push(`${namespace}/${name} ${node}`);
      },
    }),
  );
  return bound;
}

const setConditions = (test: TestCluster, conditions: Record<string, string>) =>
  test.change('nodes/status', 'n', (node) => {
    const list = Object.entries(conditions).map(([type, status]) => ({ type, status }));
    return withValue(node, ['status', 'conditions'], list);
  });

test('pods wait until a node is ready and under no pressure', async () => {
  await using test = new TestCluster();
  const bound = start(test);
  await test.create('namespaces', 'x');
  await test.create('nodes', 'n');
  await test.create('pods', 'x/a', POD);
  await setConditions(test, { Ready: 'True', DiskPressure: 'True' });
  await test.atRest();
  assert.deepEqual(bound, []);
  await setConditions(test, { Ready: 'True', DiskPressure: 'False' });
  await test.until(() => bound.length > 0);
  assert.deepEqual(bound, ['x/a n']);
});

test('a pod whose binding failed is tried again, and does not delay others', async () => {
  await using test = new TestCluster();
  await test.create('namespaces', 'x');
  await test.create('nodes', 'n');
  await setConditions(test, { Ready: 'True' });
  const bound = start(test, 1);
  await test.create('pods', 'x/a', POD);
  await test.create('pods', 'x/b', POD);
  await test.until(() => bound.length === 2);
  assert.deepEqual(bound.sort(), ['x/a n', 'x/b n']);
  assert.match(test.warnings.join(), /no space/);
});
