import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLongRunning, requestInfo } from './request-info.ts';
import { parseRequestUrl } from './request-url.ts';

const info = (method: string, target: string) => requestInfo(method, parseRequestUrl(target));

type Expected = [
  verb: string,
  group: string,
  version: string,
  namespace: string,
  resource: string,
  subresource: string,
  name: string,
];

const check = (method: string, target: string, expected: Expected) => {
  const { verb, apiGroup, apiVersion, namespace, resource, subresource, name, isResourceRequest } = info(
    method,
    target,
  );
  assert.deepEqual([verb, apiGroup, apiVersion, namespace, resource, subresource, name], expected, target);
  assert.ok(isResourceRequest);
};

test('parses object paths like upstream', () => {
  check('GET', '/api/v1/namespaces', ['list', '', 'v1', '', 'namespaces', '', '']);
  check('GET', '/api/v1/namespaces/other', ['get', '', 'v1', 'other', 'namespaces', '', 'other']);
  check('GET', '/api/v1/namespaces/other/pods', ['list', '', 'v1', 'other', 'pods', '', '']);
  check('HEAD', '/api/v1/namespaces/other/pods/foo', ['get', '', 'v1', 'other', 'pods', '', 'foo']);
  check('GET', '/api/v1/pods', ['list', '', 'v1', '', 'pods', '', '']);
  check('GET', '/api/v1/pods?watch=true', ['watch', '', 'v1', '', 'pods', '', '']);
  check('GET', '/api/v1/pods?watch=', ['watch', '', 'v1', '', 'pods', '', '']);
  check('GET', '/api/v1/namespaces/other/pods?watch=0', ['list', '', 'v1', 'other', 'pods', '', '']);
  check('GET', '/api/v1/namespaces/other/pods/foo?watch=1', ['get', '', 'v1', 'other', 'pods', '', 'foo']);
  check('GET', '/api/v1/namespaces/other/pods/foo/proxy/a/b', ['get', '', 'v1', 'other', 'pods', 'proxy', 'foo']);
  check('PUT', '/api/v1/namespaces/other/finalize', ['update', '', 'v1', 'other', 'namespaces', 'finalize', 'other']);
  check('PUT', '/api/v1/namespaces/other/status', ['update', '', 'v1', 'other', 'namespaces', 'status', 'other']);
  check('PATCH', '/api/v1/namespaces/other/pods/foo', ['patch', '', 'v1', 'other', 'pods', '', 'foo']);
  check('DELETE', '/api/v1/namespaces/other/pods/foo', ['delete', '', 'v1', 'other', 'pods', '', 'foo']);
  check('DELETE', '/api/v1/nodes', ['deletecollection', '', 'v1', '', 'nodes', '', '']);
  check('POST', '/apis/apps/v1/namespaces/x/deployments/', ['create', 'apps', 'v1', 'x', 'deployments', '', '']);
  check('GET', '/apis/batch/v1/jobs/foo/scale', ['get', 'batch', 'v1', '', 'jobs', 'scale', 'foo']);
  check('TRACE', '/api/v1/pods', ['', '', 'v1', '', 'pods', '', '']);
  check('constructor', '/api/v1/pods', ['', '', 'v1', '', 'pods', '', '']);
});

test('parses verbs in paths', () => {
  check('GET', '/api/v1/watch/pods', ['watch', '', 'v1', '', 'pods', '', '']);
  check('GET', '/api/v1/watch/namespaces/other/pods/foo', ['watch', '', 'v1', 'other', 'pods', '', 'foo']);
  check('GET', '/api/v1/proxy/namespaces/other/pods/foo/sub/x', ['proxy', '', 'v1', 'other', 'pods', '', 'foo']);
  assert.equal(info('GET', '/api/v1/watch/pods').hasVerbInPath, true);
  check('GET', '/api/v1/watch', ['watch', '', 'v1', '', '', '', '']);
});

test('treats other paths as non-resource paths, with the method as the verb', () => {
  for (const target of [
    '/',
    '',
    '/api',
    '/api/v1',
    '/api/v1/',
    '/apis/apps/v1',
    '/apis/v1/pods',
    '/livez',
    '/other/v1/pods',
  ])
    assert.deepEqual([info('GET', target).isResourceRequest, info('GET', target).verb], [false, 'get'], target);
});

test('takes the name of a list or watch from its field selector', () => {
  const name = (selector: string, method = 'GET') =>
    info(method, `/api/v1/nodes?fieldSelector=${encodeURIComponent(selector)}`).name;
  assert.equal(name('metadata.name=a'), 'a');
  assert.equal(name('spec.x!=y,metadata.name==a'), 'a');
  assert.equal(name('metadata.name=a\\,b'), 'a,b');
  assert.equal(name('metadata.name!=a'), '');
  assert.equal(name('metadata.name=a', 'DELETE'), '');
  for (const selector of [
    'metadata.name=..',
    'metadata.name=a/b',
    'metadata.name=a,x',
    'metadata.name=a=b',
    'metadata.name',
  ])
    assert.equal(name(selector), '', selector);
});

test('decodes paths once, and does not resolve dot segments', () => {
  check('GET', '/api/v1/namespaces/x/pods/..', ['get', '', 'v1', 'x', 'pods', '', '..']);
  check(
    'GET',
    '/api/v1/namespaces/x/../y/pods',
    ['list', '', 'v1', 'x', '..', 'pods', 'y'].toSpliced(0, 1, 'get') as Expected,
  );
  check('GET', '/api/v1/namespaces/x/pods/a%2Flog', ['get', '', 'v1', 'x', 'pods', 'log', 'a']);
  check('GET', '/api/v1/namespaces/x/pods/a%252Flog', ['get', '', 'v1', 'x', 'pods', '', 'a%2Flog']);
  check('GET', '/api/v1/namespaces/x/pods/__proto__', ['get', '', 'v1', 'x', 'pods', '', '__proto__']);
  assert.equal(info('GET', 'https://host/api/v1/pods?x#y').resource, 'pods');
  for (const target of ['/api/v1/pods/%', '/api/v1/pods/%ff', '/%c0%ae'])
    assert.throws(() => parseRequestUrl(target), { name: 'ApiError' });
});

test('recognizes requests without a time limit', () => {
  for (const target of ['/api/v1/pods?watch=1', '/api/v1/namespaces/x/pods/a/log', '/api/v1/nodes/a/proxy/x'])
    assert.ok(isLongRunning(info('GET', target)), target);
  assert.ok(!isLongRunning(info('GET', '/api/v1/pods')));
});
