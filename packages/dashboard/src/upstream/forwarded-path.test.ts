import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forwardingProblem, isForwarded, isLongLived } from './forwarded-path.ts';

const isAccepted = (target: string, { method = 'GET', stream = false } = {}) =>
  forwardingProblem({ method, target, stream }) === undefined;

test('Kubernetes API paths are forwarded, and no others', () => {
  for (const target of [
    '/api',
    '/apis',
    '/version',
    '/openapi/v3/apis/apps/v1?hash=AB12',
    '/api/v1/pods?watch=true&resourceVersion=5',
    '/api/v1/namespaces/default/pods/web/log?follow=true',
    '/api/v1/namespaces/proxy/pods/proxy',
    '/api/v1/namespaces/portforward',
    '/apis/rbac.authorization.k8s.io/v1/clusterroles/system:node',
    '/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode',
    '/apis/apps/v1/namespaces/default/deployments/web/scale',
    '/api/v1/namespaces/default/configmaps?fieldSelector=metadata.name%3Da%2Fb',
  ])
    assert.ok(isAccepted(target), target);
  for (const target of [
    '/',
    '/healthz',
    '/metrics',
    '/logs/',
    '/podwright/v1/stop',
    '/stats/summary',
    '/apix',
    '/apiserver',
    '/pods',
    '/debug/pprof',
    '/.well-known/openid-configuration',
  ]) {
    assert.equal(isForwarded(target), false, target);
    assert.ok(!isAccepted(target), target);
  }
});

test('paths that another server could interpret differently are rejected', () => {
  for (const target of [
    '/api/../podwright/v1/stop',
    '/api/./v1',
    '/api/%2e%2e/metrics',
    '/api/%2E./metrics',
    '/api/v1/namespaces/default/pods/..%2f..%2fnodes',
    '/api%2f..%2fmetrics',
    '/api/v1/pods%2Fweb',
    '/api/v1/pods%5Cweb',
    '/api/v1/pods\\web',
    '/api/v1//pods',
    '//api/v1/pods',
    '/api/v1/pods%00',
    '/api/v1/pods%0d%0aX-Y:%20z',
    '/api/v1/pods%252e%252e',
    '/api/v1/pods%',
    '/api/v1/pods%zz',
    '/api/v1/pods%ff',
    '/api/v1/pods#x',
    '/api/v1/pods%23x',
    '/api/v1/pods%3Fx',
    '/api/v1/pods?a=b c',
    '/api/v1/pods?a=\u00e9',
    '/api/v1/pods/w\u00e9b',
    'http://other/api/v1/pods',
  ])
    assert.ok(!isAccepted(target), target);
});

test('the proxy subresource is not forwarded, except for node statistics', () => {
  for (const target of [
    '/api/v1/namespaces/default/pods/web/proxy',
    '/api/v1/namespaces/default/pods/web/proxy/',
    '/api/v1/namespaces/default/pods/web/proxy/index.html',
    '/api/v1/namespaces/default/pods/web/%70roxy/x',
    '/api/v1/namespaces/default/services/http:web:80/proxy/x',
    '/api/v1/nodes/one/proxy/logs/',
    '/api/v1/nodes/one/proxy/stats/summary/x',
    '/api/v1/nodes/one/proxy',
    '/api/v1/proxy/nodes/one',
    '/api/v1/watch/namespaces/default/pods/web/proxy',
    '/api/v1/namespaces/default/pods/web/portforward',
  ])
    assert.ok(!isAccepted(target), target);
  assert.ok(isAccepted('/api/v1/nodes/one/proxy/stats/summary'));
  assert.ok(!isAccepted('/api/v1/nodes/one/proxy/stats/summary', { method: 'POST' }));
});

test('only exec and attach accept WebSockets', () => {
  const pod = '/api/v1/namespaces/default/pods/web';
  for (const verb of ['exec', 'attach']) assert.ok(isAccepted(`${pod}/${verb}?command=sh`, { stream: true }));
  for (const path of [
    `${pod}/portforward`,
    `${pod}/proxy/x`,
    `${pod}/log`,
    pod,
    '/api/v1/pods',
    '/version',
    '/openapi/v3',
  ])
    assert.ok(!isAccepted(path, { stream: true }), path);
  assert.ok(!isAccepted('/podwright/v1/exec', { stream: true }));
});

test('watches and followed logs are long-lived', () => {
  for (const target of [
    '/api/v1/pods?watch=true',
    '/api/v1/pods?watch=1&resourceVersion=5',
    '/api/v1/pods?watch',
    '/api/v1/namespaces/a/pods/b/log?follow=true',
    '/api/v1/watch/pods',
    '/api/v1/%77atch/namespaces/a/pods/b',
    '/apis/apps/v1/watch/deployments?watch=0',
  ])
    assert.ok(isLongLived(target), target);
  for (const target of [
    '/api/v1/pods',
    '/api/v1/pods?watch=false',
    '/api/v1/pods?watch=False&follow=0',
    '/api/v1/namespaces/watch/pods',
    '/api/v1/nodes/watch',
    '/apis/watch/v1/pods',
  ])
    assert.ok(!isLongLived(target), target);
});
