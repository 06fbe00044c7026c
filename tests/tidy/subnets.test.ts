/** Test files run concurrently, and a pod subnet on the host can only belong to one node. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { read, sources } from './source-tree.ts';

test('each subnet is used by only one test file', () => {
  const users = new Map<string, Set<string>>();
  for (const path of sources.filter((path) => path.startsWith('tests/')))
    for (const [, subnet] of read(path).matchAll(/'(10\.\d+\.\d+\.0\/24)'/g))
      users.set(subnet!, (users.get(subnet!) ?? new Set()).add(path));
  assert.ok(users.size > 50);
  for (const [subnet, files] of users) assert.equal(files.size, 1, `${subnet}: ${[...files].join(', ')}`);
});
