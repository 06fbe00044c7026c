import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resourcesOf } from './discovery.ts';
import { builtIn, isKnown, pathOf, resourceId, resourceOf } from './resources.ts';

test('paths of lists, objects and subresources are relative, and each part is escaped', () => {
  const pods = builtIn('Pod');
  assert.equal(pathOf(pods), 'api/v1/pods');
  assert.equal(pathOf(pods, { namespace: 'a' }), 'api/v1/namespaces/a/pods');
  assert.equal(pathOf(pods, { namespace: 'a', name: 'b', subresource: 'log' }), 'api/v1/namespaces/a/pods/b/log');
  assert.equal(
    pathOf(builtIn('Deployment'), { namespace: 'a', name: '../x?' }),
    'apis/apps/v1/namespaces/a/deployments/..%2Fx%3F',
  );
  assert.equal(pathOf(builtIn('Node'), { namespace: 'a', name: 'n' }), 'api/v1/nodes/n');
});

test('a resource is found by its ID', () => {
  const all = [builtIn('Pod'), builtIn('Deployment')];
  for (const one of all) assert.equal(resourceOf(resourceId(one), all), one);
  assert.equal(resourceOf('v1/secrets', all), undefined);
});

test('discovery returns each listable resource once, in the preferred version', () => {
  const verbs = ['get', 'list'];
  const found = resourcesOf([
    {
      metadata: { name: 'x.io' },
      versions: [
        { version: 'v2', resources: [{ resource: 'as', responseKind: { kind: 'A' }, scope: 'Namespaced', verbs }] },
        {
          version: 'v1',
          resources: [
            { resource: 'as', responseKind: { kind: 'A' }, scope: 'Namespaced', verbs },
            { resource: 'bs', responseKind: { kind: 'B' }, scope: 'Cluster', verbs },
            { resource: 'reviews', responseKind: { kind: 'Review' }, scope: 'Cluster', verbs: ['create'] },
          ],
        },
      ],
    },
  ]);
  assert.deepEqual(found.map(resourceId), ['x.io/v2/as', 'x.io/v1/bs']);
  assert.deepEqual(found.map(isKnown), [false, false]);
});
