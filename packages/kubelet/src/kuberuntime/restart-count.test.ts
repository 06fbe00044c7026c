import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { RuntimeContainer, RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import { nextRestartCount } from './restart-count.ts';

const logs = mkdtempSync(join(tmpdir(), 'podwright-restarts-'));
after(() => rmSync(logs, { recursive: true }));

function statusOf(...restartCounts: number[]): RuntimePodStatus {
  const containers = restartCounts.map((restartCount) => ({ name: 'app', restartCount }) as RuntimeContainer);
  return { pod: { name: 'web', namespace: 'default', uid: 'u1' }, sandboxes: [], containers };
}

test('the first container has restart count 0, and each successor increments it', async () => {
  assert.equal(await nextRestartCount(statusOf(), 'app', logs), 0);
  assert.equal(await nextRestartCount(statusOf(4, 3), 'app', logs), 5);
  assert.equal(await nextRestartCount(statusOf(4), 'other', logs), 0);
});

test('if the runtime has removed the container, the count continues from the last log file', async () => {
  mkdirSync(join(logs, 'app'));
  for (const name of ['0.log', '2.log', '10.log.20260101-000000.gz', 'x.log', '77'])
    writeFileSync(join(logs, 'app', name), '');
  assert.equal(await nextRestartCount(statusOf(), 'app', logs), 11);
});

test('an unreadable log directory does not count as empty', async () => {
  writeFileSync(join(logs, 'file'), '');
  await assert.rejects(nextRestartCount(statusOf(), 'file', logs), { code: 'ENOTDIR' });
});
