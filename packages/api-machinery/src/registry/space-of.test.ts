import assert from 'node:assert/strict';
import { test } from 'node:test';
import { spaceOf } from './space-of.ts';

test('only nodes and controllers may use the reserve, and only for what a full node needs', () => {
  const check = (expected: string, operation: 'create' | 'update', resource: string, ...groups: string[]) =>
    assert.equal(spaceOf(resource, operation, { user: { username: 'u', groups } }), expected);
  check('ordinary', 'create', 'pods', 'system:authenticated');
  check('ordinary', 'update', 'leases.coordination.k8s.io', 'system:authenticated');
  check('ordinary', 'create', 'pods', 'system:masters');
  check('half-reserve', 'update', 'deployments.apps', 'system:masters');
  check('half-reserve', 'create', 'events', 'system:nodes');
  check('reserve', 'update', 'pods', 'system:nodes');
  check('unbounded', 'update', 'nodes', 'system:nodes');
  check('unbounded', 'create', 'leases.coordination.k8s.io', 'system:masters');
});
