import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { CgroupClaim } from './cgroup-claim.ts';

test('a kubelet that asks for its cgroups twice at once is not taken for another', async (context) => {
  const cgroup = `/claim-${randomUUID()}`;
  const [own, other] = [new CgroupClaim(cgroup), new CgroupClaim(cgroup)];
  context.after(() => Promise.all([own.release(), other.release()]));
  assert.deepEqual(await Promise.all([own.isOurs(), own.isOurs()]), [true, true]);
  assert.deepEqual([await own.isOurs(), await other.isOurs()], [true, false]);
  await own.release();
  assert.equal(await other.isOurs(), true);
});
