import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContainerState, ContainerStatus, PodStatus } from '../objects/pod-status.ts';
import type { Pod } from '../objects/types.ts';
import { podSummary } from './pod-summary.ts';

type Parts = Omit<Partial<PodStatus>, 'conditions'> & {
  sidecars?: string[];
  deleted?: boolean;
  conditions?: { type: string; status: string; reason?: string }[];
};

const RUNNING: ContainerState = { running: { startedAt: '2026-01-01T00:00:00Z' } };
const UP = { ready: true, started: true };
const READY = [{ type: 'Ready', status: 'True' }];
const waits = (reason: string): ContainerState => ({ waiting: { reason } });
const ended = (exitCode: number, more = {}): ContainerState => ({
  terminated: { exitCode, reason: exitCode === 0 ? 'Completed' : 'Error', ...more },
});
const of = (name: string, state: ContainerState, more: Partial<ContainerStatus> = {}): ContainerStatus => ({
  ...{ name, state, lastState: {}, ready: false, restartCount: 0, image: 'i', imageID: '' },
  ...more,
});
const restarted = (times: number, finishedAt: string): Partial<ContainerStatus> => ({
  restartCount: times,
  lastState: ended(1, { finishedAt }),
});

function podOf({ sidecars = [], deleted, ...status }: Parts): Pod {
  const specs = (statuses: ContainerStatus[] = []) =>
    statuses.map(({ name }) => ({ name, ...(sidecars.includes(name) && { restartPolicy: 'Always' }) }));
  const spec = { initContainers: specs(status.initContainerStatuses), containers: specs(status.containerStatuses) };
  const metadata = { name: 'web', ...(deleted && { deletionTimestamp: '2026-01-01T00:00:00Z' }) };
  return { metadata, spec, status: { phase: 'Running', ...status } } as unknown as Pod;
}

test('a pod’s status matches kubectl', () => {
  const check = (parts: Parts, expected: string) => assert.equal(podSummary(podOf(parts)).status, expected);
  const up = of('a', RUNNING, UP);
  check({ containerStatuses: [up] }, 'Running');
  check({ containerStatuses: [of('a', {})], phase: 'Pending' }, 'Pending');
  check({ containerStatuses: [of('b', ended(0)), up] }, 'NotReady');
  check({ containerStatuses: [up, of('b', ended(0))], conditions: READY }, 'Running');
  check({ containerStatuses: [of('a', RUNNING), of('b', ended(0))] }, 'Completed');
  check({ containerStatuses: [up, of('b', ended(3))] }, 'Error');
  check({ containerStatuses: [of('b', ended(0)), of('c', ended(3))], phase: 'Failed' }, 'Error');
  check({ containerStatuses: [of('b', ended(0))], phase: 'Succeeded' }, 'Completed');
  check({ containerStatuses: [of('b', ended(137, { reason: '', signal: 9 }))], phase: 'Failed' }, 'Signal:9');
  check({ containerStatuses: [of('b', ended(2, { reason: undefined }))], phase: 'Failed' }, 'ExitCode:2');
  check({ containerStatuses: [of('b', waits('CrashLoopBackOff')), up] }, 'CrashLoopBackOff');
  check({ containerStatuses: [of('a', {})], phase: 'Failed', reason: 'NodeAffinity' }, 'NodeAffinity');
  check({ containerStatuses: [up], deleted: true }, 'Terminating');
  check({ containerStatuses: [of('a', ended(0))], phase: 'Succeeded', deleted: true }, 'Completed');
  check({ containerStatuses: [up], deleted: true, reason: 'NodeLost' }, 'Unknown');
  check(
    { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }] },
    'SchedulingGated',
  );
});

test('while a pod initializes, its status comes from the init containers', () => {
  const main = of('m', waits('PodInitializing'));
  const check = (init: ContainerStatus[], expected: string, more: Parts = {}) =>
    assert.equal(
      podSummary(podOf({ containerStatuses: [main], initContainerStatuses: init, phase: 'Pending', ...more })).status,
      expected,
    );
  check([of('i', waits('PodInitializing')), of('j', waits('PodInitializing'))], 'Init:0/2');
  check([of('i', ended(0)), of('j', RUNNING)], 'Init:1/2');
  check([of('i', ended(2))], 'Init:Error');
  check([of('i', waits('CrashLoopBackOff'))], 'Init:CrashLoopBackOff');
  check([of('s', RUNNING, { started: false })], 'Init:0/1', { sidecars: ['s'] });
  check([of('s', RUNNING, UP), of('i', RUNNING)], 'Init:1/2', { sidecars: ['s'] });
  check([of('s', RUNNING, UP)], 'PodInitializing', { sidecars: ['s'] });
});

test('sidecars are counted, and restarts show the time of the last one', () => {
  const summary = (parts: Parts) => {
    const { ready, restarts, restartedAt } = podSummary(podOf(parts));
    return [ready, restarts, restartedAt];
  };
  const [early, late] = ['2026-01-01T00:00:00Z', '2026-01-01T00:00:01Z'];
  const sidecar = of('s', RUNNING, { ...UP, ...restarted(2, late) });
  const init = of('i', ended(0), restarted(5, late));
  const a = of('a', RUNNING, { ...UP, ...restarted(1, early) });
  const parts = { containerStatuses: [a, of('b', RUNNING)], initContainerStatuses: [sidecar, init], sidecars: ['s'] };
  assert.deepEqual(summary(parts), ['2/3', 3, late]);
  assert.deepEqual(summary({ containerStatuses: [a] }), ['1/1', 1, early]);
  assert.deepEqual(summary({ containerStatuses: [of('a', RUNNING)] }), ['0/1', 0, undefined]);
  const failing = of('i', ended(1), restarted(5, late));
  assert.deepEqual(summary({ initContainerStatuses: [failing], containerStatuses: [of('m', {})] }), ['0/1', 5, late]);
  const later = of('j', {}, restarted(9, late));
  assert.deepEqual(summary({ initContainerStatuses: [failing, later] }), ['0/0', 5, late]);
});

test('an evicted pod has the status Evicted, however its containers ended', () => {
  const containerStatuses = [of('a', ended(137))];
  assert.equal(podSummary(podOf({ phase: 'Failed', reason: 'Evicted', containerStatuses })).status, 'Evicted');
  assert.equal(podSummary(podOf({ phase: 'Failed', reason: 'Preempting', containerStatuses })).status, 'Error');
  const evicted = podOf({ phase: 'Failed', reason: 'Evicted', containerStatuses });
  assert.equal(podSummary(evicted, { showsEviction: false }).status, 'Error');
});
