import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pathOf } from './api-path.ts';

const PODS = { group: '', version: 'v1', plural: 'pods', namespaced: true };
const DEPLOYMENTS = { group: 'apps', version: 'v1', plural: 'deployments', namespaced: true };
const NODES = { group: '', version: 'v1', plural: 'nodes', namespaced: false };

test('a path names a collection, an object or a subresource', () => {
  assert.equal(pathOf(PODS), '/api/v1/pods');
  assert.equal(pathOf(PODS, { namespace: '' }), '/api/v1/pods');
  assert.equal(pathOf(DEPLOYMENTS, { namespace: 'shop' }), '/apis/apps/v1/namespaces/shop/deployments');
  assert.equal(
    pathOf(DEPLOYMENTS, { namespace: 'shop', name: 'web' }),
    '/apis/apps/v1/namespaces/shop/deployments/web',
  );
  assert.equal(pathOf(PODS, { namespace: 'a', name: 'b', subresource: 'log' }), '/api/v1/namespaces/a/pods/b/log');
  assert.equal(pathOf(NODES, { namespace: 'a', name: 'n', subresource: 'proxy/x' }), '/api/v1/nodes/n/proxy/x');
});

test('a name cannot add segments or a query', () => {
  assert.equal(pathOf(PODS, { namespace: '../x', name: 'a/b?c' }), '/api/v1/namespaces/..%2Fx/pods/a%2Fb%3Fc');
});
