import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareVersions } from './version-order.ts';

test('versions are ordered by stage and number', () => {
  const versions = ['v2', 'v10', 'foo1', 'v1beta1', 'v1', 'v3beta1', 'v11alpha2', 'v12alpha1', 'v10beta3', 'foo10'];
  assert.deepEqual(
    versions.sort((a, b) => compareVersions(b, a)),
    ['v10', 'v2', 'v1', 'v10beta3', 'v3beta1', 'v1beta1', 'v12alpha1', 'v11alpha2', 'foo1', 'foo10'],
  );
});
