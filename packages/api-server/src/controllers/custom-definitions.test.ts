import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as rules from '@podwright/custom-resources';
import type { ApiObject } from '@podwright/kube-kinds';
import { keepDefinitions } from './custom-definitions.ts';
import { TestCluster } from './test-cluster.fixture.ts';

const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io';

function definition(plural: string, kind: string) {
  const schema = { openAPIV3Schema: { type: 'object' } };
  const versions = [{ name: 'v1', served: true, storage: true, schema }];
  const names = { plural, kind, singular: kind.toLowerCase(), listKind: `${kind}List` };
  return { spec: { group: 'example.com', scope: 'Cluster', names, versions } };
}

function start(cluster: TestCluster) {
  const installed: string[][] = [];
  let loads = 0;
  cluster.start((parts) =>
    keepDefinitions({
      ...parts,
      load: async () => {
        loads++;
        return rules;
      },
      install: async (definitions: readonly ApiObject[]) => {
        installed.push(definitions.map(({ metadata }) => metadata.name ?? ''));
      },
      now: () => cluster.nowMs,
    }),
  );
  return { installed, loads: () => loads };
}

test('nothing is loaded if there are no definitions', async () => {
  await using cluster = new TestCluster();
  const { installed, loads } = start(cluster);
  await cluster.create('configmaps', 'a/b');
  await cluster.atRest();
  assert.deepEqual([installed, loads()], [[], 0]);
});

test('definitions are established and installed, until they are deleted', async () => {
  await using cluster = new TestCluster();
  const { installed } = start(cluster);
  await cluster.create(DEFINITIONS, 'foos.example.com', definition('foos', 'Foo'));
  const find = () => cluster.find(DEFINITIONS, 'foos.example.com');
  await cluster.until(() => rules.hasCondition(find() ?? { metadata: {} }, 'Established'));
  await cluster.until(() => installed.at(-1)?.join() === 'foos.example.com');
  await cluster.delete(DEFINITIONS, 'foos.example.com');
  await cluster.until(() => installed.at(-1)?.length === 0);
});
