import assert from 'node:assert/strict';
import { test } from 'node:test';
import { delegatedUnit } from './systemd.ts';

test('the unit is named after the cgroup in whose place it is', () => {
  assert.equal(delegatedUnit('/podwright'), 'podwright-pods.service');
  assert.equal(delegatedUnit('/nodes/one'), 'nodes-one-pods.service');
});

test('a cgroup after which no unit can be named is refused', () => {
  for (const parent of ['/a b', '/ä', `/${'x'.repeat(250)}`])
    assert.throws(() => delegatedUnit(parent), { code: 'invalid_argument', message: /only letters, digits/ }, parent);
});
