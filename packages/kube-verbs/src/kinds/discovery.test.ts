import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pathOf } from '@podwright/kube-api';
import { kindsOf } from './discovery.ts';
import { qualifiedName } from './resource-kind.ts';

const verbs = ['get', 'list'];
const [deployment, node] = kindsOf({
  items: [
    {
      metadata: { name: 'apps' },
      versions: [
        {
          version: 'v1',
          resources: [
            {
              resource: 'deployments',
              responseKind: { kind: 'Deployment' },
              scope: 'Namespaced',
              singularResource: 'deployment',
              verbs,
              shortNames: ['deploy'],
              categories: ['all'],
              subresources: [{ subresource: 'scale' }],
            },
            { resource: 'reviews', responseKind: { kind: 'Review' }, verbs: ['create'] },
          ],
        },
      ],
    },
    {
      metadata: {},
      versions: [
        { version: 'v1', resources: [{ resource: 'nodes', responseKind: { kind: 'Node' }, scope: 'Cluster', verbs }] },
      ],
    },
  ],
});

test('lists that an API server sends as null are empty', () => {
  const resource = { resource: 'reviews', verbs: null, shortNames: null, categories: null, subresources: null };
  const versions = [
    { version: 'v1', resources: [resource] },
    { version: 'v2', resources: null },
  ];
  assert.deepEqual(kindsOf({ items: [{ versions }, { versions: null }] }), []);
});

test('kinds are read from aggregated discovery, excluding those that cannot be read', () => {
  assert.deepEqual(deployment, {
    ...{ group: 'apps', version: 'v1', kind: 'Deployment', plural: 'deployments', singular: 'deployment' },
    ...{ short: ['deploy'], categories: ['all'], namespaced: true, verbs, subresources: ['scale'] },
  });
  assert.deepEqual([node?.singular, node?.namespaced, node?.group], ['node', false, '']);
});

test('only paths of namespaced kinds include the namespace', () => {
  assert.equal(pathOf(deployment!, { namespace: 'a', name: 'web' }), '/apis/apps/v1/namespaces/a/deployments/web');
  assert.equal(pathOf(deployment!), '/apis/apps/v1/deployments');
  assert.equal(pathOf(node!, { namespace: 'a', name: 'n' }), '/api/v1/nodes/n');
  assert.deepEqual([qualifiedName(deployment!), qualifiedName(node!)], ['deployment.apps', 'node']);
});
