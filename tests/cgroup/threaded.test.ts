import assert from 'node:assert/strict';
import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { cgroupPids, discoverCgroups } from '@podwright/host';

test('a threaded container cgroup, whose processes the kernel lists in its parent, is not an error', async (t) => {
  const hierarchy = await discoverCgroups();
  const tree = hierarchy.trees.find(({ version }) => version === 2);
  if (tree === undefined) return t.skip('no cgroup v2 here');
  const path = `/pwt-threaded-${process.pid}`;
  const inner = join(tree.mountPoint, path, 'threads');
  mkdirSync(inner, { recursive: true });
  try {
    writeFileSync(join(inner, 'cgroup.type'), 'threaded');
    assert.deepEqual(await cgroupPids(hierarchy, path, { recursive: true }), []);
  } finally {
    rmdirSync(inner);
    rmdirSync(join(tree.mountPoint, path));
  }
});
