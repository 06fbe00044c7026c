import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { StatusManager } from '../status/status-manager.ts';
import type { StatusRecord } from '../status/status-records.ts';
import { type OrphanInput, removeOrphans } from './orphans.ts';

/**
 * The sync parts of a node that has pod 2 from a pod source, pod 3 from its pod worker, pod 4 from its status in the container runtime, and
 * pod 5 only from a listing of the container runtime's pods.
 */
function sync(statuses: StatusManager): OrphanInput['sync'] {
  const parts = {
    statuses,
    manager: { has: (uid: string) => uid === '2', list: () => [{ metadata: { uid: '2' } }] },
    workers: { has: (uid: string) => uid === '3', activePods: () => [{ metadata: { uid: '3' } }] },
    cache: { get: (uid: string) => (uid === '4' ? {} : undefined), list: () => [{ pod: { uid: '4' } }] },
    pleg: { lists: (uid: string) => uid === '5', listedPods: () => [{ uid: '5' }] },
    loop: { endOrphans: () => undefined },
    ephemeral: { keepOnly: () => undefined },
    keepResourcesOf: () => undefined,
  };
  return parts as unknown as OrphanInput['sync'];
}

test('volumes, logs, statuses and cgroups are removed for pods known to neither a source nor the runtime', async (t) => {
  const podLogsDir = mkdtempSync(join(tmpdir(), 'pwk-orphans-'));
  t.after(() => rmSync(podLogsDir, { recursive: true }));
  const uids = ['1', '2', '3', '4', '5', '6'];
  for (const uid of [...uids, '7']) mkdirSync(join(podLogsDir, `d_pod_${uid}`));
  const record: StatusRecord = { namespace: 'd', name: 'pod', status: { phase: 'Pending' } };
  const kept = new Map(uids.slice(0, 5).map((uid) => [uid, record]));
  const forgotten: string[] = [];
  const statuses = new StatusManager(kept, { save: () => undefined, delete: (uid) => void forgotten.push(uid) });
  const keptCgroups: string[] = [];
  const granted: string[] = [];
  await removeOrphans(
    {
      sync: sync(statuses),
      volumes: { removeOrphans: async (isKnown) => ['2', '3', '4', '5', '6'].filter((uid) => !isKnown(uid)) },
      cgroups: { removeOrphans: async (keep) => void keptCgroups.push(...keep) },
      grants: { keepOnly: async (isKnown) => void granted.push(...uids.filter(isKnown)) },
      podLogsDir,
      logger: silentLogger,
    },
    new Set(),
  );
  const left = ['d_pod_2', 'd_pod_3', 'd_pod_4', 'd_pod_5', 'd_pod_7'];
  assert.deepEqual(readdirSync(podLogsDir).toSorted(), left, 'the last one is another kubelet’s');
  assert.deepEqual(forgotten, ['1']);
  assert.deepEqual(keptCgroups.toSorted(), ['2', '3', '4', '5']);
  assert.deepEqual(granted, ['2', '3', '4', '5']);
});
