import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContainerState, Pod } from '../api/types.ts';
import type { RuntimeContainer, RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import { containerLog } from './pod-containers.ts';

const statusOf = (state: ContainerState, lastId?: string) => ({
  name: 'app',
  state,
  lastState: lastId === undefined ? {} : { terminated: { exitCode: 1, containerID: `x://${lastId}` } },
});

/** A pod whose status tells `state`, and of the runtime's containers those with these ids, the newest first. */
function previousLog(status: object, ids: string[]): string {
  const metadata = { name: 'web', namespace: 'default', uid: 'u1' };
  const pod = { metadata, spec: { containers: [{ name: 'app' }] }, status: { containerStatuses: [status] } };
  const containers = ids.map((id) => ({ id, containerId: `x://${id}`, name: 'app', logPath: `/logs/${id}.log` }));
  const found: RuntimePodStatus = { pod: metadata, sandboxes: [], containers: containers as RuntimeContainer[] };
  const which = { container: '', previous: true, podLogsDir: '/logs', legacyLogs: undefined };
  return containerLog(pod as unknown as Pod, found, which).path;
}

test('the previous log is that of the last end, also while a container waits for its next try', () => {
  const check = (status: object, ids: string[], expected: string) =>
    assert.equal(previousLog(status, ids), `/logs/${expected}.log`);
  const startedAt = '2026-11-22T00:00:00Z';
  check(statusOf({ running: { startedAt } }, 'one'), ['two', 'one'], 'one');
  check(statusOf({ waiting: { reason: 'CrashLoopBackOff' } }, 'three'), ['three'], 'three');
  check(statusOf({ waiting: { reason: 'CrashLoopBackOff' } }, 'three'), ['three', 'two'], 'three');
  check(statusOf({ running: { startedAt } }), ['two', 'one'], 'one');
});

test('a container that was not restarted is told from one whose previous log is gone', () => {
  const check = (status: object, message: RegExp) =>
    assert.throws(() => previousLog(status, ['two']), { code: 'not_found', message });
  check(statusOf({ terminated: { exitCode: 0 } }), /container app of pod default\/web has not been restarted$/);
  check(
    statusOf({ terminated: { exitCode: 0 } }, 'one'),
    /container app .* was restarted, and that log is gone by now$/,
  );
});
