import assert from 'node:assert/strict';
import { test } from 'node:test';
import { delegatedUnit } from './systemd.ts';

test('the delegated unit is named after the parent cgroup', () => {
  assert.equal(delegatedUnit('/podwright'), 'podwright-pods.service');
  assert.equal(delegatedUnit('/nodes/one'), 'nodes-one-pods.service');
});

test('a parent cgroup that does not yield a valid unit name is rejected', () => {
  for (const parent of ['/a b', '/ä', `/${'x'.repeat(250)}`])
    assert.throws(() => delegatedUnit(parent), { code: 'invalid_argument', message: /only letters, digits/ }, parent);
});
