import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StatefulSetSpec } from '../objects/stateful-set.ts';
import { decideStatefulSet } from './decide-stateful-set.ts';
import { revisionOf } from './pod-identity.ts';
import { newStatefulSet, type PodOptions, statefulPod } from './stateful-set.fixture.ts';

const NOW = Date.parse('2026-01-01T00:01:00Z');

/** Returns the decision for a StatefulSet with these pods, keyed by ordinal. The template's revision is `db-2`. */
function decide(spec: Partial<StatefulSetSpec>, pods: Record<number, PodOptions>, stale: number[] = []) {
  const set = newStatefulSet(spec, { currentReplicas: 1 });
  const revision = (name: string) => ({ revision: name, template: set.spec.template });
  return decideStatefulSet({
    set,
    pods: Object.entries(pods).map(([ordinal, options]) => statefulPod(set, Number(ordinal), options)),
    current: revision('db-1'),
    update: revision('db-2'),
    hasStaleClaims: (ordinal) => stale.includes(ordinal),
    mayReplace: ({ status }) => status?.reason !== 'wait',
    nowMs: NOW,
  });
}

/** Asserts which pods a decision creates (`+NAME@REVISION`) and deletes (`-NAME`). */
function check(spec: Partial<StatefulSetSpec>, pods: Record<number, PodOptions>, expected: string[], stale?: number[]) {
  const actions = decide(spec, pods, stale).phases.flat();
  const texts = actions.flatMap((action) => {
    if (action.type === 'create') return [`+${action.pod.metadata.name}@${revisionOf(action.pod)}`];
    return action.type === 'delete' ? [`-${action.pod.metadata.name}`] : [];
  });
  assert.deepEqual(texts, expected);
}

const NEW: PodOptions = { revision: 'db-2' };
const PENDING: PodOptions = { phase: 'Pending', revision: 'db-2' };
const LEAVING: PodOptions = { isDeleting: true, revision: 'db-2' };
const RUNNING = { running: { startedAt: '2026-01-01T00:00:00Z' } };
const PARALLEL = { podManagementPolicy: 'Parallel' as const };

test('pods are created in order, each once the earlier ones are available', () => {
  check({}, {}, ['+db-0@db-2']);
  check({}, { 0: PENDING }, []);
  check({}, { 0: NEW }, ['+db-1@db-2']);
  check({}, { 0: { ...NEW, isReady: false }, 2: NEW }, []);
  check({ minReadySeconds: 61 }, { 0: NEW }, []);
  check({ minReadySeconds: 60 }, { 0: NEW }, ['+db-1@db-2']);
  check({}, { 0: LEAVING }, []);
  check({ ordinals: { start: 5 }, replicas: 2 }, { 5: NEW }, ['+db-6@db-2']);
});

test('with parallel management, pods are created at once', () => {
  check(PARALLEL, {}, ['+db-0@db-2', '+db-1@db-2', '+db-2@db-2']);
  check(PARALLEL, { 1: PENDING }, ['+db-0@db-2', '+db-2@db-2']);
});

test('ended pods are deleted, and replaced once removed', () => {
  check({}, { 0: { ...NEW, phase: 'Failed' }, 1: NEW }, ['-db-0']);
  check({}, { 0: { ...NEW, phase: 'Succeeded' } }, ['-db-0']);
  check({}, { 0: { ...LEAVING, phase: 'Failed' } }, []);
  check({ ...PARALLEL, replicas: 2 }, { 0: { ...NEW, phase: 'Failed' } }, ['-db-0', '+db-1@db-2']);
});

test('an ended pod in back-off remains, and blocks the following ones in ordered mode', () => {
  const waits: PodOptions = { ...NEW, phase: 'Failed', reason: 'wait' };
  check({}, { 0: waits }, []);
  check({ ...PARALLEL, replicas: 2 }, { 0: waits }, ['+db-1@db-2']);
});

test('surplus pods are deleted one at a time from the highest ordinal, only while all others are available', () => {
  check({ replicas: 1 }, { 0: NEW, 1: NEW, 2: NEW }, ['-db-2']);
  check({ replicas: 1 }, { 0: NEW, 1: NEW, 2: LEAVING }, []);
  check({ replicas: 1 }, { 0: NEW, 1: { ...NEW, isReady: false }, 2: NEW }, ['-db-2']);
  check({ replicas: 1 }, { 0: NEW, 1: { ...NEW, isReady: false }, 2: { ...NEW, isReady: false } }, []);
  check({ replicas: 1 }, { 0: NEW, 1: NEW, 2: { ...NEW, isReady: false } }, ['-db-2']);
  check({ replicas: 1 }, { 0: PENDING, 1: NEW }, []);
  check({ replicas: 1, ...PARALLEL }, { 0: PENDING, 1: NEW, 2: LEAVING, 3: PENDING }, ['-db-3', '-db-1']);
  check({ replicas: 2, ordinals: { start: 2 } }, { 1: NEW, 2: NEW, 3: NEW, 4: NEW }, ['-db-4']);
});

test('an update replaces the highest ordinal first and waits until it is available', () => {
  check({}, { 0: {}, 1: {}, 2: {} }, ['-db-2']);
  check({}, { 0: {}, 1: {}, 2: NEW }, ['-db-1']);
  check({}, { 0: {}, 1: {}, 2: LEAVING }, []);
  check(PARALLEL, { 0: {}, 1: {}, 2: PENDING }, []);
  check(PARALLEL, { 0: {}, 1: {}, 2: { isReady: false } }, ['-db-2']);
});

test('a pod that is not running does not block an update that may fix it', () => {
  const waits = (reason: string): PodOptions => ({ isReady: false, state: { waiting: { reason } } });
  const image: PodOptions = { ...waits('ImagePullBackOff'), phase: 'Pending' };
  const crashing = waits('CrashLoopBackOff');
  check({}, { 0: image }, ['-db-0']);
  check({}, { 0: NEW, 1: crashing, 2: {} }, ['-db-1']);
  check({}, { 0: { phase: 'Pending' } }, ['-db-0']); // not scheduled
  check({}, { 0: { ...image, isDeleting: true } }, []);
  check({}, { 0: { ...image, revision: 'db-2' } }, []);
  check({}, { 0: { isReady: false, state: RUNNING } }, []); // it may become ready
  check({}, { 0: { phase: 'Pending', state: RUNNING } }, []); // an init container runs
  check({ updateStrategy: { type: 'OnDelete' } }, { 0: image }, []);
  check({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } } }, { 0: image }, []);
});

test('pods below the partition keep the current revision', () => {
  const spec = { updateStrategy: { type: 'RollingUpdate' as const, rollingUpdate: { partition: 2 } } };
  check(spec, { 0: {}, 1: {}, 2: {} }, ['-db-2']);
  check(spec, { 0: {}, 1: {}, 2: NEW }, []);
  check(spec, { 0: {} }, ['+db-1@db-1']);
  check(spec, { 0: {}, 1: {} }, ['+db-2@db-2']);
  check({ updateStrategy: { type: 'RollingUpdate' } }, {}, ['+db-0@db-1']);
  check({ updateStrategy: { type: 'RollingUpdate' } }, { 0: {} }, ['+db-1@db-2']);
});

test('with OnDelete, only missing pods get the new revision', () => {
  const spec = { updateStrategy: { type: 'OnDelete' as const } };
  check(spec, { 0: {}, 1: {}, 2: {} }, []);
  check(spec, { 0: {}, 1: {} }, ['+db-2@db-2']);
});

test('with maxUnavailable, several pods are replaced at once', () => {
  const spec = (maxUnavailable: number | string) => ({
    replicas: 5,
    updateStrategy: { type: 'RollingUpdate' as const, rollingUpdate: { partition: 0, maxUnavailable } },
  });
  const old = { 0: {}, 1: {}, 2: {}, 3: {}, 4: {} };
  check(spec(2), old, ['-db-4', '-db-3']);
  check(spec('50%'), old, ['-db-4', '-db-3']);
  check(spec('10%'), old, ['-db-4']);
  check({ ...spec(2), ...PARALLEL }, { ...old, 4: PENDING }, ['-db-3']);
  check({ ...spec(2), ...PARALLEL }, { ...old, 4: PENDING, 3: LEAVING }, []);
});

test('a pod with claims still to be deleted is not created', () => {
  check({ replicas: 2 }, { 0: NEW }, [], [1]);
  check({ ...PARALLEL }, {}, ['+db-0@db-2', '+db-2@db-2'], [1]);
});

test('the cost of a decision depends on existing pods, not on replicas', () => {
  const replicas = 2 ** 31 - 1;
  check({ replicas }, { 0: NEW }, ['+db-1@db-2']);
  check({ replicas }, { 0: NEW, 5: PENDING }, ['+db-1@db-2']);
  check({ replicas, ordinals: { start: replicas } }, {}, [`+db-${replicas}@db-2`]);
  const created = decide({ replicas, ...PARALLEL }, { 1: PENDING, 70000: NEW }).phases.flat();
  const count = (type: string) => created.filter((action) => action.type === type).length;
  assert.deepEqual([count('create'), count('repair')], [500, 2]);
  const updateStrategy = { type: 'RollingUpdate' as const, rollingUpdate: { partition: 0, maxUnavailable: '10%' } };
  const deleted = decide({ replicas, ...PARALLEL, updateStrategy }, { 0: {} }).phases.flat();
  assert.equal(deleted.filter(({ type }) => type === 'delete').length, 0);
});
