import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ContainerState, Pod } from '@podwright/kube-api';
import type { RuntimeContainer, RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import { containerLog } from './pod-containers.ts';

const statusOf = (state: ContainerState, lastId?: string) => ({
  name: 'app',
  state,
  lastState: lastId === undefined ? {} : { terminated: { exitCode: 1, containerID: `x://${lastId}` } },
});

/** Returns the path of a pod's previous log, given its container status and the IDs of its containers in the runtime, newest first. */
function previousLog(status: object, ids: string[]): string {
  const metadata = { name: 'web', namespace: 'default', uid: 'u1' };
  const pod = { metadata, spec: { containers: [{ name: 'app' }] }, status: { containerStatuses: [status] } };
  const containers = ids.map((id) => ({ id, containerId: `x://${id}`, name: 'app', logPath: `/logs/${id}.log` }));
  const found: RuntimePodStatus = { pod: metadata, sandboxes: [], containers: containers as RuntimeContainer[] };
  const which = { container: '', previous: true, podLogsDir: '/logs', legacyLogs: undefined };
  return containerLog(pod as unknown as Pod, found, which).path;
}

test('the previous log is that of the last terminated attempt, even during crash back-off', () => {
  const check = (status: object, ids: string[], expected: string) =>
    assert.equal(previousLog(status, ids), `/logs/${expected}.log`);
  const startedAt = '2026-11-22T00:00:00Z';
  check(statusOf({ running: { startedAt } }, 'one'), ['two', 'one'], 'one');
  check(statusOf({ waiting: { reason: 'CrashLoopBackOff' } }, 'three'), ['three'], 'three');
  check(statusOf({ waiting: { reason: 'CrashLoopBackOff' } }, 'three'), ['three', 'two'], 'three');
  check(statusOf({ running: { startedAt } }), ['two', 'one'], 'one');
});

test('the log of a container missing from the runtime is read from its file, or reported as removed', (context) => {
  const podLogsDir = mkdtempSync(join(tmpdir(), 'podwright-'));
  context.after(() => rmSync(podLogsDir, { recursive: true }));
  const place = (previous: boolean, containerId?: string) => {
    const metadata = { name: 'web', namespace: 'default', uid: 'u1' };
    const ended = { exitCode: 0, containerID: 'x://two' };
    const status = { ...statusOf({ terminated: ended as never }, 'one'), restartCount: 1 };
    const pod = { metadata, spec: { containers: [{ name: 'app' }] }, status: { containerStatuses: [status] } };
    const which = { container: '', previous, containerId, podLogsDir, legacyLogs: undefined };
    return containerLog(pod as unknown as Pod, { pod: metadata, sandboxes: [], containers: [] }, which);
  };
  const removed = {
    code: 'not_found',
    message: 'find the log: the log of container app of pod default/web was removed',
  };
  assert.throws(() => place(false), removed);
  const directory = join(podLogsDir, 'default_web_u1', 'app');
  mkdirSync(directory, { recursive: true });
  for (const name of ['0.log', '1.log']) writeFileSync(join(directory, name), '');
  assert.deepEqual(place(false), { path: join(directory, '1.log'), legacy: undefined, running: false });
  assert.equal(place(false, 'x://two').path, join(directory, '1.log'));
  assert.equal(place(true).path, join(directory, '0.log'));
  assert.throws(() => place(false, 'x://three'), /has no attempt x:\/\/three/);
});

test('the error distinguishes a container that was not restarted from one whose previous log was removed', () => {
  const check = (status: object, message: RegExp) =>
    assert.throws(() => previousLog(status, ['two']), { code: 'not_found', message });
  check(statusOf({ terminated: { exitCode: 0 } }), /container app of pod default\/web has not been restarted$/);
  check(
    statusOf({ terminated: { exitCode: 0 } }, 'one'),
    /the previous log of container app of pod default\/web was removed$/,
  );
});

test('the error for a container that has not started includes the waiting reason, even before the pod has a status', () => {
  const check = (status: object | undefined, reason: string) => {
    const metadata = { name: 'web', namespace: 'default', uid: 'u1' };
    const pod = { metadata, spec: { containers: [{ name: 'app' }] }, status } as unknown as Pod;
    const which = { container: '', previous: false, podLogsDir: '/logs', legacyLogs: undefined };
    const message = `find the log: container app of pod default/web has not started yet: ${reason}`;
    const found = { pod: metadata, sandboxes: [], containers: [] };
    assert.throws(() => containerLog(pod, found, which), { code: 'failed_precondition', message });
  };
  check(undefined, 'ContainerCreating');
  check({ phase: 'Pending' }, 'ContainerCreating');
  check({ phase: 'Pending', reason: 'WaitingForDevices' }, 'WaitingForDevices');
  check({ phase: 'Pending', containerStatuses: [statusOf({ waiting: { reason: 'ErrImagePull' } })] }, 'ErrImagePull');
});
