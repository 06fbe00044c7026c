import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '@podwright/base';
import type { Pod } from '../api/types.ts';
import type { RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import { PodDirectories } from '../volumes/pod-directories.ts';
import { EphemeralContainers } from './ephemeral-containers.ts';
import { PodManager } from './pod-manager.ts';
import type { PodWorkers } from './pod-workers.ts';
import { SyncLoop } from './sync-loop.ts';

function podOf(uid: string, namespace = 'default'): Pod {
  const metadata = { name: `pod-${uid}`, namespace, uid };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [] } };
}

/** A loop whose workers write down what they are told; `known` are the UIDs that have a worker. */
function start({ runtimePods = [] as string[], known = [] as string[] } = {}) {
  const told: string[] = [];
  const workers = {
    update: ({ metadata }: Pod) => void told.push(`update ${metadata.uid}`),
    retry: (uid: string) => void told.push(`retry ${uid}`),
    notice: (uid: string) => void told.push(`notice ${uid}`),
    has: (uid: string) => known.includes(uid),
    end: async ({ metadata }: Pod, end: object) => void told.push(`end ${metadata.uid} ${JSON.stringify(end)}`),
  };
  const seen: string[] = [];
  const statuses = runtimePods.map(
    (uid): RuntimePodStatus => ({ pod: { uid, namespace: 'd', name: uid }, sandboxes: [], containers: [] }),
  );
  const loop = new SyncLoop({
    ephemeral: new EphemeralContainers(new PodDirectories('/none')),
    manager: new PodManager(),
    workers: workers as unknown as PodWorkers,
    runtimePods: () => statuses,
    onSeen: ({ metadata }) => seen.push(metadata.uid),
    logger: silentLogger,
  });
  return { loop, told, seen };
}

test('pods of a source go to their workers, and are seen for the first time once', () => {
  const { loop, told, seen } = start();
  loop.handlePods({ operation: 'ADD', source: 'file', pods: [podOf('a'), podOf('b')] });
  loop.handlePods({ operation: 'UPDATE', source: 'file', pods: [podOf('a')] });
  assert.deepEqual(told, ['update a', 'update b', 'update a']);
  assert.deepEqual(seen, ['a', 'b']);
});

test('a pod that left its source is ended and removed, and is new when it comes back', () => {
  const { loop, told, seen } = start();
  loop.handlePods({ operation: 'ADD', source: 'file', pods: [podOf('a')] });
  loop.handlePods({ operation: 'REMOVE', source: 'file', pods: [podOf('a')] });
  loop.handlePods({ operation: 'ADD', source: 'file', pods: [podOf('a')] });
  assert.deepEqual(told, ['update a', 'end a {"remove":true}', 'update a']);
  assert.deepEqual(seen, ['a', 'a']);
});

test('pods that only the runtime has are ended, those of a source and those that end already are not', () => {
  const { loop, told } = start({ runtimePods: ['a', 'b', 'c'], known: ['b'] });
  loop.handlePods({ operation: 'ADD', source: 'file', pods: [podOf('a')] });
  loop.endOrphans();
  assert.deepEqual(told, ['update a', 'end c {"remove":true}']);
});

test('an evicted pod is killed at once, and stays to be seen', () => {
  const { loop, told } = start();
  loop.evict(podOf('a'), { reason: 'Evicted', message: 'too large' });
  const end = { verdict: { reason: 'Evicted', message: 'too large' }, gracePeriodSeconds: 0, remove: false };
  assert.deepEqual(told, [`end a ${JSON.stringify(end)}`]);
});

test('what happens in the runtime and to probes is a notice, and a changed object is tried with at once', () => {
  const { loop, told } = start();
  loop.handlePods({ operation: 'ADD', source: 'file', pods: [podOf('a', 'one'), podOf('b', 'two')] });
  told.length = 0;
  loop.handleLifecycle('a');
  loop.handleProbe({ kind: 'liveness', podUid: 'b', containerName: 'app', containerId: 'c', result: 'failure' });
  loop.handleObject({ kind: 'ConfigMap', namespace: 'two', name: 'conf' });
  loop.handleObject({ kind: 'RuntimeClass', namespace: '', name: 'class' });
  assert.deepEqual(told, ['notice a', 'notice b', 'retry b', 'retry a', 'retry b']);
});
