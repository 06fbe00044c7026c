import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContainerStatus, Pod, PodPhase, PodSpec } from '@podwright/kube-api';
import { podPhase } from './pod-phase.ts';

type Course = 'running' | 'ok' | 'starved' | 'failed' | 'waiting' | 'restarting' | 'unstarted';

/** Returns a container status from shorthand; `restarting` is waiting after a failure. */
function statusOf(name: string, course: Course): ContainerStatus {
  const exitCode = course === 'ok' || course === 'starved' ? 0 : 1;
  const terminated = course === 'starved' ? { exitCode, reason: 'OOMKilled' } : { exitCode };
  const running = { startedAt: '2026-01-01T00:00:00Z' };
  const state =
    course === 'running' || course === 'unstarted'
      ? { running }
      : course === 'ok' || course === 'starved' || course === 'failed'
        ? { terminated }
        : { waiting: {} };
  const lastState = course === 'restarting' ? { terminated } : {};
  const started = course === 'running';
  return { name, state, lastState, started, ready: false, restartCount: 0, image: '', imageID: '' };
}

type Case = {
  policy?: PodSpec['restartPolicy'];
  init?: Course[];
  sidecars?: Course[];
  main: Course[];
  /** Whether a main container has been created in this sandbox. */
  initialized?: boolean;
  terminal?: boolean;
};

function check(
  { policy = 'Always', init = [], sidecars = [], main, initialized = true, terminal = false }: Case,
  expected: PodPhase,
): void {
  const named = (prefix: string, courses: Course[]) =>
    courses.map((course, index) => statusOf(`${prefix}${index}`, course));
  const initStatuses = [...named('init', init), ...named('side', sidecars)];
  const statuses = named('main', main);
  const spec: PodSpec = {
    restartPolicy: policy,
    initContainers: initStatuses.map(({ name }) =>
      name.startsWith('side') ? { name, image: '', restartPolicy: 'Always' } : { name, image: '' },
    ),
    containers: statuses.map(({ name }) => ({ name, image: '' })),
  };
  const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'd', uid: 'u' }, spec };
  assert.equal(podPhase({ pod, initStatuses, statuses, initialized, terminal }), expected);
}

test('a pod is pending until all of its containers have been started', () => {
  check({ main: ['waiting'] }, 'Pending');
  check({ main: ['running', 'waiting'] }, 'Pending');
  check({ init: ['running'], main: ['waiting'] }, 'Pending');
  check({ init: ['ok'], main: ['waiting'] }, 'Pending');
  check({ init: ['restarting'], main: ['waiting'] }, 'Pending');
  check({ sidecars: ['unstarted'], main: ['waiting'] }, 'Pending');
});

test('a pod that gets a new sandbox is pending again until it is initialized', () => {
  check({ init: ['running'], main: ['failed'], initialized: false }, 'Pending');
  check({ init: ['ok', 'waiting'], main: ['ok'], initialized: false }, 'Pending');
  check({ sidecars: ['unstarted'], main: ['failed'], initialized: false }, 'Pending');
  check({ sidecars: ['unstarted'], main: ['failed'] }, 'Running');
});

test('an init container with an OOM-killed process has failed, even if it exited with 0', () => {
  check({ init: ['starved'], main: ['waiting'], policy: 'Never' }, 'Failed');
  check({ init: ['starved'], main: ['waiting'] }, 'Pending');
});

test('a pod is running while a container runs or will be restarted', () => {
  check({ main: ['running'] }, 'Running');
  check({ main: ['running', 'failed'] }, 'Running');
  check({ main: ['restarting'] }, 'Running');
  check({ main: ['ok'] }, 'Running');
  check({ main: ['failed'], policy: 'OnFailure' }, 'Running');
  check({ main: ['ok', 'running'], policy: 'Never' }, 'Running');
  check({ sidecars: ['restarting'], main: ['running'] }, 'Running');
});

test('a pod has ended when no container will be restarted', () => {
  check({ main: ['ok', 'ok'], policy: 'OnFailure' }, 'Succeeded');
  check({ main: ['ok'], policy: 'Never' }, 'Succeeded');
  check({ main: ['ok', 'failed'], policy: 'Never' }, 'Failed');
  check({ init: ['failed'], main: ['waiting'], policy: 'Never' }, 'Failed');
  check({ sidecars: ['running'], main: ['ok'], policy: 'Never' }, 'Succeeded');
});

test('a terminated pod has failed unless all containers succeeded', () => {
  check({ main: ['ok'], terminal: true }, 'Succeeded');
  check({ main: ['failed'], terminal: true }, 'Failed');
  check({ main: ['failed', 'ok'], policy: 'OnFailure', terminal: true }, 'Failed');
});
