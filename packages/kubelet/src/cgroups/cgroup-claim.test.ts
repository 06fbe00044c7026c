import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { waitFor } from '@podwright/base';
import { CgroupClaim } from './cgroup-claim.ts';

const CLAIMS = '/run/podwright-cgroups';

test('a kubelet claiming its cgroups twice at once does not conflict with itself', async (context) => {
  const cgroup = `/claim-${randomUUID()}`;
  const [own, other] = [new CgroupClaim(cgroup), new CgroupClaim(cgroup)];
  context.after(() => Promise.all([own.release(), other.release()]));
  assert.deepEqual(await Promise.all([own.isOurs(), own.isOurs()]), [true, true]);
  assert.deepEqual([await own.isOurs(), await other.isOurs()], [true, false]);
  await own.release();
  assert.equal(await other.isOurs(), true);
});

test('a killed kubelet’s claim is removed by the next one, even if that claims another cgroup', async (context) => {
  const cgroup = `/claim-${randomUUID()}`;
  const code = `const { CgroupClaim } = await import(${JSON.stringify(import.meta.resolve('./cgroup-claim.ts'))});
await new CgroupClaim('${cgroup}').isOurs();
console.log('claimed');
setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  const claim = join(CLAIMS, `${createHash('sha256').update(cgroup).digest('hex').slice(0, 32)}.sock`);
  assert.ok(existsSync(claim));
  child.kill('SIGKILL');
  await once(child, 'exit');
  const next = new CgroupClaim(`/claim-${randomUUID()}`);
  context.after(() => next.release());
  assert.equal(await next.isOurs(), true);
  await waitFor(() => !existsSync(claim) || undefined, {
    intervalMs: 5,
    signal: AbortSignal.timeout(10_000),
  });
});
