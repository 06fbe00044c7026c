import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { CgroupClaim } from './cgroup-claim.ts';

test('a kubelet that claims its cgroups twice at once does not conflict with itself', async (context) => {
  const cgroup = `/claim-${randomUUID()}`;
  const [own, other] = [new CgroupClaim(cgroup), new CgroupClaim(cgroup)];
  context.after(() => Promise.all([own.release(), other.release()]));
  assert.deepEqual(await Promise.all([own.isOurs(), own.isOurs()]), [true, true]);
  assert.deepEqual([await own.isOurs(), await other.isOurs()], [true, false]);
  await own.release();
  assert.equal(await other.isOurs(), true);
});
