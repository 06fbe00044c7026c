import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestAttributes } from './request-attributes.ts';

function check(request: string, expected: string): void {
  const [method, path] = request.split(' ');
  const { verb, subresources } = requestAttributes(method, path);
  assert.equal(`${verb} ${subresources.join(',')}`, expected, request);
}

test('requests have the same verb and subresources as upstream', () => {
  check('GET /stats/summary', 'get stats');
  check('GET /stats', 'get stats');
  check('GET /statsx', 'get proxy');
  check('GET /metrics', 'get metrics');
  check('GET /metrics/cadvisor', 'get metrics');
  check('GET /logs/', 'get log');
  check('POST /checkpoint/a/b/c', 'create checkpoint');
  check('GET /statusz', 'get statusz');
  check('GET /flagz', 'get configz');
  check('GET /pods', 'get pods,proxy');
  check('GET /podsx', 'get proxy');
  check('GET /runningpods/', 'get pods,proxy');
  check('GET /healthz/syncloop', 'get healthz,proxy');
  check('GET /configz', 'get configz,proxy');
  check('POST /exec/a/b/c', 'create proxy');
  check('GET /containerLogs/a/b/c', 'get proxy');
  check('GET /podwright/v1/traces/u', 'get proxy');
  check('PUT /x', 'update proxy');
  check('PATCH /x', 'patch proxy');
  check('DELETE /x', 'delete proxy');
  check('HEAD /pods', ' pods,proxy');
  check('OPTIONS', ' proxy');
});
