import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { StatusManager } from '../status/status-manager.ts';
import type { StatusRecord } from '../status/status-records.ts';
import { forgetOrphans } from './forget-orphans.ts';

test('logs and status of a pod go that was deleted while the kubelet was away, before it had a sandbox', async (t) => {
  const podLogsDir = mkdtempSync(join(tmpdir(), 'pwk-forget-'));
  t.after(() => rmSync(podLogsDir, { recursive: true }));
  const names = ['d_gone_1', 'd_here_2', 'd_foreign_3'];
  for (const name of names) mkdirSync(join(podLogsDir, name));
  const record = (name: string): StatusRecord => ({ namespace: 'd', name, status: { phase: 'Pending' } });
  const kept = new Map([
    ['1', record('gone')],
    ['2', record('here')],
  ]);
  const forgotten: string[] = [];
  const statuses = new StatusManager(kept, { save: () => undefined, delete: (uid) => void forgotten.push(uid) });
  await forgetOrphans({ statuses, podLogsDir }, new Set(['2']));
  assert.deepEqual(readdirSync(podLogsDir).toSorted(), ['d_foreign_3', 'd_here_2']);
  assert.deepEqual(forgotten, ['1']);
});
