import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exchangeDifferences } from './differences.ts';
import { masked } from './mask.ts';
import type { Exchange } from './transcript.ts';

test('values chosen by servers are masked, and values chosen by clients are not', () => {
  const uid = '0a1b2c3d-0000-4000-8000-0123456789ab';
  const metadata = { name: 'a', uid, resourceVersion: '42', creationTimestamp: '2026-01-02T03:04:05Z' };
  const expected = { name: 'a', uid: '<uid>', resourceVersion: '<version>', creationTimestamp: '<time>' };
  assert.deepEqual(masked({ metadata, clusterIP: '10.96.3.4' }), { metadata: expected, clusterIP: '<ip>' });
  assert.deepEqual(masked({ nodePort: -1, resourceVersion: 'x', list: [7] }), {
    nodePort: -1,
    resourceVersion: 'x',
    list: [7],
  });
  assert.equal(masked(`{\\"resourceVersion\\":\\"7\\"} of ${uid}`), '{\\"resourceVersion\\":\\"<version>\\"} of <uid>');
  assert.deepEqual(masked(['5m10s', 'in 5m10s', 'kube-api-access-4dlhf', '80:30123/TCP']), [
    '<age>',
    'in 5m10s',
    'kube-api-access-<suffix>',
    '80:<port>/TCP',
  ]);
});

test('differences between two responses include paths and both values', () => {
  const answer = (status: number, body: unknown, headers = {}): Exchange => ({
    request: { method: 'GET', path: '/' },
    status,
    headers: { 'audit-id': 'x', ...headers },
    body,
  });
  const differences = exchangeDifferences(
    answer(200, { a: [1, { b: 2 }], same: 'x' }, { warning: '299 - "w"' }),
    answer(404, { a: [1, { b: 3 }, 4], same: 'x' }),
  );
  assert.deepEqual(differences, [
    { path: 'status', ours: 200, theirs: 404 },
    { path: 'body.a.1.b', ours: 2, theirs: 3 },
    { path: 'body.a.2', ours: undefined, theirs: 4 },
    { path: 'header warning', ours: '299 - "w"', theirs: '' },
  ]);
});
