import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ago, checkRow, DAY, tableWith } from './row-checks.fixture.ts';

type Status = object;
type Restarts = { restarts?: number; secondsAgo?: number; name?: string; ready?: boolean; started?: boolean };

/** Returns a container status with this state. `secondsAgo` is the time since the container's previous instance terminated. */
function of(state: object, { restarts = 0, secondsAgo, ...more }: Restarts = {}): Status {
  const lastState = secondsAgo === undefined ? {} : { terminated: { exitCode: 1, finishedAt: ago(secondsAgo) } };
  return { state, restartCount: restarts, lastState, ...more };
}
const RUNS = { running: {} };
const up = (restarts = 0, secondsAgo?: number) =>
  of(RUNS, { restarts, ready: true, ...(secondsAgo && { secondsAgo }) });
const down = (restarts = 0, secondsAgo?: number) =>
  of(RUNS, { restarts, ready: false, ...(secondsAgo && { secondsAgo }) });
const waits = (reason?: string, restarts = 0) => of({ waiting: { reason } }, { restarts });
const ended = (exitCode: number, reason?: string, more: Restarts = {}) =>
  of({ terminated: { exitCode, reason } }, more);

type Parts = {
  init?: Status[];
  main?: Status[];
  phase?: string;
  reason?: string;
  conditions?: object[];
  deleted?: boolean;
  initSpecs?: object[];
  count?: number;
};

function podOf({ init, main = [], initSpecs, count = main.length, deleted, ...status }: Parts): object {
  return {
    metadata: { name: 'x', ...(deleted && { deletionTimestamp: ago(10) }) },
    spec: { initContainers: initSpecs ?? init?.map(() => ({})), containers: Array(count).fill({}) },
    status: { phase: 'Running', initContainerStatuses: init, containerStatuses: main, ...status },
  };
}

const check = (parts: Parts, ...[Ready, Status, Restarts]: [string, string, string]) =>
  checkRow('Pod', podOf(parts), { Ready, Status, Restarts, Age: '<unknown>' });

test('the status of a pod is its phase if no container has a reason', () => {
  for (const phase of ['Running', 'Pending', 'Unknown', 'Succeeded', 'Failed', 'podPhase']) {
    check({ phase, main: [up(3), of({}, { restarts: 3 })] }, '1/2', phase, '6');
  }
  check({ main: [up(3), of({}, { ready: true, restarts: 3 })] }, '1/2', 'Running', '6');
  check({ main: [up(3), of({}, { restarts: 3 })], reason: 'podReason' }, '1/2', 'podReason', '6');
});

test('the reason of the first container that has one replaces the phase', () => {
  check({ main: [up(3), waits('Waits', 3)] }, '1/2', 'Waits', '6');
  check({ main: [waits('Waits', 3), ended(0, 'Ended', { restarts: 3 })] }, '0/2', 'Waits', '6');
  check({ main: [ended(1, 'Error')], phase: 'Failed' }, '0/1', 'Error', '0');
  check({ main: [ended(1, 'Crash'), up()], phase: 'Failed' }, '1/2', 'Crash', '0');
  check({ main: [up(), ended(1, 'Crash')], phase: 'Failed' }, '1/2', 'Crash', '0');
  check({ main: [up(), ended(1, 'Crash'), ended(0)], phase: 'Failed' }, '1/3', 'Crash', '0');
  check({ main: [down(), ended(1, 'Crash'), ended(0)], phase: 'Failed' }, '0/3', 'Crash', '0');
  check({ main: [ended(137)], phase: 'Failed', reason: 'Evicted' }, '0/1', 'ExitCode:137', '0');
});

test('a pod with a completed container is still running if another container is ready', () => {
  const main = [ended(0, 'Completed', { ready: true, restarts: 3 }), up(3)];
  check({ main }, '1/2', 'NotReady', '6');
  check({ main, conditions: [{ type: 'Ready', status: 'True' }] }, '1/2', 'Running', '6');
  check({ main: [ended(0, 'Completed')], phase: 'Succeeded' }, '0/1', 'Completed', '0');
});

test('a pod being deleted is terminating until it has ended, and unknown if its node is lost', () => {
  check({ main: [ended(0, 'Completed')], phase: 'Succeeded', deleted: true }, '0/1', 'Completed', '0');
  check({ main: [down()], deleted: true }, '0/1', 'Terminating', '0');
  check({ count: 1, phase: 'Pending', deleted: true }, '0/1', 'Terminating', '0');
  check({ main: [up()], reason: 'NodeLost', deleted: true }, '1/1', 'Unknown', '0');
  check({ main: [up()], reason: 'NodeLost' }, '1/1', 'NodeLost', '0');
});

test('a pod with scheduling gates shows SchedulingGated', () => {
  const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }];
  check({ count: 2, phase: 'Pending', conditions }, '0/2', 'SchedulingGated', '0');
});

test('restarts show the time of the last one', () => {
  check({ main: [up(3, 5 * DAY)] }, '1/1', 'Running', '3 (5d ago)');
  check({ main: [up(), up(3, 10 * DAY)] }, '2/2', 'Running', '3 (10d ago)');
  check({ main: [up(6, 5 * DAY), up(3, 20 * DAY)] }, '2/2', 'Running', '9 (5d ago)');
});

test('during initialization, the status and restarts are those of the init containers', () => {
  const main = [waits()];
  const initialized = (restarts: number) => ended(0, undefined, { restarts, secondsAgo: 120 });
  check({ init: [down(3, 10)], main }, '0/1', 'Init:0/1', '3 (10s ago)');
  check({ init: [down(3, 10), waits()], main }, '0/1', 'Init:0/2', '3 (10s ago)');
  check({ init: [ended(0), down(3, 10)], main }, '0/1', 'Init:1/2', '3 (10s ago)');
  check({ init: [initialized(2), down(3, 10)], main }, '0/1', 'Init:1/2', '5 (10s ago)');
  check({ init: [down(3, 10), initialized(2)], main }, '0/1', 'Init:0/2', '3 (10s ago)');
  check({ init: [initialized(2)], main: [down(4, 20)] }, '0/1', 'Running', '4 (20s ago)');
  check({ init: [waits('ErrImagePull')], main }, '0/1', 'Init:ErrImagePull', '0');
  check({ init: [ended(2)], main }, '0/1', 'Init:ExitCode:2', '0');
});

test('sidecars count as containers once started', () => {
  const initSpecs = ['a', 'b'].map((name) => ({ name, restartPolicy: 'Always' }));
  const a = (started: boolean, state = RUNS as object) =>
    of(state, { name: 'a', started, restarts: 3, secondsAgo: 10 });
  const b = (started: boolean, state = RUNS as object) => of(state, { name: 'b', started });
  const initialized = [{ type: 'Initialized', status: 'True' }];
  const error = { terminated: { exitCode: 137, reason: 'Error' } };
  const checkSidecars = (init: Status[], more: Parts, ...expected: [string, string, string]) =>
    check({ init, initSpecs, ...more }, ...expected);
  checkSidecars([a(false), b(false, { waiting: {} })], { main: [waits()] }, '0/3', 'Init:0/2', '3 (10s ago)');
  checkSidecars([a(true), b(false)], { main: [waits()] }, '0/3', 'Init:1/2', '3 (10s ago)');
  checkSidecars([a(true), b(true)], { main: [up(4, 20)], conditions: initialized }, '1/3', 'Running', '7 (10s ago)');
  const done = ended(0, 'Completed', { restarts: 4, secondsAgo: 20 });
  const end = { main: [done], conditions: initialized, phase: 'Succeeded' };
  checkSidecars([a(false, error), b(false, error)], end, '0/3', 'Completed', '7 (10s ago)');
  checkSidecars([{ ...a(true), ready: true }, b(true)], { main: [up()] }, '2/3', 'Running', '3 (10s ago)');
});

test('statuses of containers not in the pod count as init containers', () => {
  const initSpecs = [{ name: 'init' }, { name: 'sidecar', restartPolicy: 'Always' }];
  const init = ['invalid', 'init', 'sidecar'].map((name) => ({ name }));
  check({ init, initSpecs, count: 1, main: [{ name: 'invalid' }, { name: 'main' }] }, '0/2', 'Init:0/2', '0');
});

test('wide rows show the address, nodes and readiness gates', () => {
  const check = (spec: object, status: object, ...[IP, Node, nominated, gates]: [string, string, string, string]) =>
    checkRow(
      'Pod',
      { spec: { containers: [], ...spec }, status },
      { IP, Node, 'Nominated Node': nominated, 'Readiness Gates': gates },
    );
  const readinessGates = ['a', 'b', 'c'].map((conditionType) => ({ conditionType }));
  const conditions = [
    { type: 'a', status: 'False' },
    { type: 'b', status: 'True' },
  ];
  const podIPs = [{ ip: '1.1.1.1' }, { ip: '2001:db8::' }];
  check({}, {}, '<none>', '<none>', '<none>', '<none>');
  const status = { podIPs, conditions, nominatedNodeName: 'n2' };
  check({ nodeName: 'n1', readinessGates }, status, '1.1.1.1', 'n1', 'n2', '1/3');
  check({}, { podIP: '1.1.1.2' }, '1.1.1.2', '<none>', '<none>', '<none>');
});

test('rows of terminated pods say so', () => {
  const reasonOf = (phase: string) =>
    tableWith('Pod', podOf({ phase })).rows[0]!.conditions?.map(({ reason }) => reason);
  assert.deepEqual(['Running', 'Succeeded', 'Failed'].map(reasonOf), [undefined, ['Succeeded'], ['Failed']]);
});

test('pod templates show containers, images and labels', () => {
  const containers = ['a', 'b'].map((name) => ({ name, image: `${name}:1` }));
  const template = { metadata: { labels: { z: '1', b: '2' } }, spec: { containers } };
  checkRow('PodTemplate', { template }, { Containers: 'a,b', Images: 'a:1,b:1', 'Pod Labels': 'b=2,z=1' });
  checkRow('PodTemplate', {}, { Containers: '', Images: '', 'Pod Labels': '<none>' });
});
