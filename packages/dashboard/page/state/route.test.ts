import assert from 'node:assert/strict';
import { test } from 'node:test';
import { builtIn } from '../api/resources.ts';
import { listHref, objectHref, routeOf } from './route.ts';

test('fragments are converted to pages, and pages to fragments', () => {
  assert.deepEqual(routeOf(''), { page: 'overview' });
  assert.deepEqual(routeOf('#/'), { page: 'overview' });
  assert.deepEqual(routeOf('#/events'), { page: 'events' });
  assert.deepEqual(routeOf('#/storage'), { page: 'section', section: 'storage' });
  assert.deepEqual(routeOf('#/nothing'), { page: 'unknown' });
  assert.deepEqual(routeOf('#/object/v1/services'), { page: 'unknown' });
  assert.deepEqual(routeOf(listHref(builtIn('Deployment'))), { page: 'list', resource: 'apps/v1/deployments' });
  assert.deepEqual(routeOf('#/pods/a/b/logs'), { page: 'pod', namespace: 'a', name: 'b', tab: 'logs' });
  const check = (kind: string, namespace: string, resource: string) =>
    assert.deepEqual(routeOf(objectHref(builtIn(kind), { namespace, name: 'x:y' }, 'yaml')), {
      ...{ page: 'object', resource, namespace, name: 'x:y', tab: 'yaml' },
    });
  check('Service', 'a', 'v1/services');
  check('Node', '', 'v1/nodes');
  check('Deployment', 'a', 'apps/v1/deployments');
  assert.equal(objectHref(builtIn('Pod'), { namespace: 'a', name: 'b' }), '#/pods/a/b');
});

test('a fragment with invalid escapes is accepted', () => {
  assert.deepEqual(routeOf('#/pods/a/%E0%A4%A'), { page: 'pod', namespace: 'a', name: '%E0%A4%A', tab: '' });
});
