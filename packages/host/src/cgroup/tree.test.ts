import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { CgroupHierarchy } from './hierarchy.ts';
import { createCgroup } from './tree.ts';

/** Creates a fake v2 cgroup tree that has these controllers but fails every write to `cgroup.subtree_control`. */
function refusingTree(context: TestContext, controllers: string): CgroupHierarchy {
  const mountPoint = mkdtempSync(join(tmpdir(), 'podwright-cgroup-'));
  context.after(() => rmSync(mountPoint, { recursive: true }));
  mkdirSync(join(mountPoint, 'pods'));
  writeFileSync(join(mountPoint, 'cgroup.controllers'), controllers);
  symlinkSync('/proc/version', join(mountPoint, 'cgroup.subtree_control')); // readable, and every write fails
  return { mode: 'v2', trees: [{ version: 2, mountPoint, controllers: controllers.split(' ') }] };
}

test('createCgroup creates the cgroup, and returns the controllers that the kernel refused to delegate', async (context) => {
  const hierarchy = refusingTree(context, 'cpu memory');
  const refusals = await createCgroup(hierarchy, '/pods/one');
  const [{ mountPoint } = assert.fail()] = hierarchy.trees;
  assert.deepEqual(
    refusals.map(({ controller, directory }) => ({ controller, directory })),
    [
      { controller: 'cpu', directory: mountPoint },
      { controller: 'memory', directory: mountPoint },
    ],
  );
  for (const { error } of refusals) assert.match(String(error), /EIO|EACCES|EPERM/);
});

test('createCgroup returns no refusals if there is nothing to delegate', async (context) => {
  const hierarchy = refusingTree(context, '');
  assert.deepEqual(await createCgroup(hierarchy, '/pods/one'), []);
});
