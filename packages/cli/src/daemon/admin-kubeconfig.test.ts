import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitFor } from '@podwright/base';
import { AdminKubeconfig } from './admin-kubeconfig.ts';

test('the kubeconfig is written at once, and again after two thirds of its certificate’s lifetime, even after a failure', async () => {
  let nowMs = 1000;
  let writes = 0;
  let checks = 0;
  const log: string[] = [];
  const logger = {
    info: (_: object, message: string) => log.push(message),
    warn: (fields: object) => log.push(JSON.stringify(fields)),
  };
  const write = async () => {
    writes += 1;
    if (writes === 2) throw new Error('disk full');
  };
  const now = () => {
    checks += 1;
    return nowMs;
  };
  using file = await AdminKubeconfig.start({ write, lifeMs: 300, logger, now, checkEveryMs: 1 });
  assert.ok(file);
  const until = (check: () => boolean) =>
    waitFor(() => check() || undefined, { intervalMs: 1, signal: AbortSignal.timeout(5000) });
  nowMs += 199;
  const before = checks;
  await until(() => checks > before + 3);
  assert.equal(writes, 1);
  nowMs += 1;
  await until(() => writes === 3);
  assert.deepEqual(log, ['{"error":"disk full"}', "renewed the administrator's kubeconfig"]);
  const renewed = checks;
  await until(() => checks > renewed + 3);
  assert.equal(writes, 3);
  nowMs -= 100_000; // the system time is set back: the certificate may not be valid yet
  await until(() => writes === 4);
  const again = checks;
  await until(() => checks > again + 3);
  assert.equal(writes, 4);
});
