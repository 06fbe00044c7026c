import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CgroupHierarchy } from '@podwright/host';
import { PodFreezer } from './pod-freezer.ts';

const hierarchy: CgroupHierarchy = { mode: 'v2', trees: [] };

test('a pod counts as frozen from freeze to thaw', async () => {
  const freezer = new PodFreezer(hierarchy, async () => ({
    frozenAtMs: 7,
    [Symbol.asyncDispose]: async () => undefined,
  }));
  const beforeMs = performance.now();
  assert.equal(freezer.wasFrozen('u', beforeMs), false);
  {
    await using frozen = await freezer.freeze('u', '/pods/u', 100);
    assert.equal(frozen?.frozenAtMs, 7);
    assert.equal(freezer.wasFrozen('u', performance.now()), true);
    assert.equal(freezer.wasFrozen('other', beforeMs), false);
  }
  assert.deepEqual([freezer.wasFrozen('u', beforeMs), freezer.wasFrozen('u', performance.now() + 1)], [true, false]);
});

test('a pod with an unknown cgroup is not frozen, and a failed freeze does not count as frozen', async () => {
  let calls = 0;
  const refuse = async () => {
    calls++;
    return undefined;
  };
  assert.equal(await new PodFreezer(undefined, refuse).freeze('u', '/pods/u', 100), undefined);
  const freezer = new PodFreezer(hierarchy, refuse);
  assert.equal(await freezer.freeze('u', '', 100), undefined);
  assert.equal(calls, 0);
  assert.equal(await freezer.freeze('u', '/pods/u', 100), undefined);
  assert.equal(freezer.wasFrozen('u', performance.now() + 1), false);
  const failing = new PodFreezer(hierarchy, async () => {
    throw new Error('EIO');
  });
  await assert.rejects(failing.freeze('u', '/pods/u', 100), /EIO/);
  assert.equal(failing.wasFrozen('u', performance.now() + 1), false);
});
