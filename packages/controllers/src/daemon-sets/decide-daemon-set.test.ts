import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '@podwright/kube-api';
import type { DaemonSetSpec } from '../objects/daemon-set.ts';
import { newNode, newView, type PodOptions, SURGE } from './daemon-set.fixture.ts';
import { daemonSetStatus } from './daemon-set-status.ts';
import { decideDaemonPods } from './decide-daemon-pods.ts';
import { decideUpdate } from './decide-update.ts';

type Pods = Record<string, PodOptions>;
const OLD: PodOptions = { hash: 'old' };
const NEW: PodOptions = {};
const UNREADY: PodOptions = { isReady: false };
const LEAVING: PodOptions = { isDeleting: true };

/** Checks which pods a decision creates (`+NODE`) and deletes (`-POD`). */
function checkPods(spec: Partial<DaemonSetSpec>, pods: Pods, expected: string[], nodes?: Node[]) {
  const decision = decideDaemonPods(newView(spec, pods, nodes), () => 0);
  assert.deepEqual(texts(decision), expected);
}

function checkUpdate(spec: Partial<DaemonSetSpec>, pods: Pods, expected: string[], nodes?: Node[]) {
  assert.deepEqual(texts(decideUpdate(newView(spec, pods, nodes))), expected);
}

function texts({ create, delete: removed }: { create: string[]; delete: { metadata: { name: string } }[] }) {
  return [...create.map((node) => `+${node}`), ...removed.map(({ metadata }) => `-${metadata.name}`)];
}

test('each eligible node has one pod', () => {
  checkPods({}, {}, ['+a', '+b', '+c']);
  checkPods({}, { a1: NEW, b1: UNREADY, c1: { phase: 'Pending', isAssigned: false } }, []);
  checkPods({}, { a1: NEW, b1: LEAVING, c1: NEW }, []);
  checkPods({}, { a1: NEW, b1: { ...LEAVING, phase: 'Failed' }, c1: NEW }, ['+b']);
  const tainted = (effect: string) => [newNode('a', { taints: [{ key: 'x', effect }] })];
  checkPods({}, {}, [], tainted('NoSchedule'));
  checkPods({}, { a1: NEW }, [], tainted('NoSchedule'));
  checkPods({}, { a1: NEW }, ['-a1'], tainted('NoExecute'));
});

test('if a node has several pods, the oldest assigned one remains', () => {
  const later = { createdAt: '2026-01-01T00:00:10Z' };
  const pods = { a1: later, a2: NEW, a3: { ...NEW, isAssigned: false, createdAt: '2025-01-01T00:00:00Z' } };
  checkPods({}, { ...pods, b1: NEW, c1: NEW }, ['-a1', '-a3']);
});

test('unassigned pods of nonexistent nodes are deleted', () => {
  checkPods({}, { a1: NEW, d1: { ...NEW, isAssigned: false }, e1: NEW }, ['-d1'], [newNode('a')]);
});

test('ended pods are deleted, failed ones after a back-off', () => {
  checkPods({}, { a1: { phase: 'Failed' }, b1: { phase: 'Succeeded' }, c1: NEW }, ['-a1', '-b1']);
  const decision = decideDaemonPods(newView({}, { a1: { phase: 'Failed' }, b1: NEW, c1: NEW }), () => 3000);
  assert.deepEqual([texts(decision), decision.againInMs, decision.failedOn], [[], 3000, []]);
  const { events, failedOn } = decideDaemonPods(newView({}, { a1: { phase: 'Failed' }, b1: NEW, c1: NEW }), () => 0);
  const message = 'Found failed daemon pod shop/a1 on node a, will try to kill it';
  assert.deepEqual([events, failedOn], [[['Warning', 'FailedDaemonPod', message]], ['a']]);
});

test('with surge, too, a failed pod is replaced after the back-off, and not again on each sync', () => {
  const failed = newView({ updateStrategy: SURGE }, { a1: { phase: 'Failed' }, b1: NEW, c1: NEW });
  const waiting = decideDaemonPods(failed, () => 3000);
  assert.deepEqual([texts(waiting), waiting.againInMs], [[], 3000]);
  assert.deepEqual(texts(decideDaemonPods(failed, () => 0)), ['+a', '-a1']);
});

test('an update deletes as many available old pods as nodes may be unavailable', () => {
  checkUpdate({}, { a1: OLD, b1: OLD, c1: OLD }, ['-a1']);
  checkUpdate({}, { a1: UNREADY, b1: OLD, c1: OLD }, []);
  checkUpdate({}, { a1: NEW, b1: OLD, c1: OLD }, ['-b1']);
  checkUpdate({}, { a1: OLD, b1: OLD, c1: LEAVING }, []);
  checkUpdate({}, { a1: OLD, b1: { ...OLD, ...UNREADY }, c1: { ...OLD, ...UNREADY } }, ['-b1', '-c1']);
  const half = { updateStrategy: { type: 'RollingUpdate' as const, rollingUpdate: { maxUnavailable: '50%' } } };
  checkUpdate(half, { a1: OLD, b1: OLD, c1: OLD }, ['-a1', '-b1']);
  checkUpdate({ updateStrategy: { type: 'OnDelete' } }, { a1: OLD, b1: OLD, c1: OLD }, []);
  checkUpdate({ minReadySeconds: 61 }, { a1: NEW, b1: OLD, c1: OLD }, ['-b1', '-c1']);
});

test('with surge, new pods start before old ones end', () => {
  const spec = { updateStrategy: SURGE };
  checkUpdate(spec, { a1: OLD, b1: OLD, c1: OLD }, ['+a']);
  checkUpdate(spec, { a1: OLD, a2: UNREADY, b1: OLD, c1: OLD }, []);
  checkUpdate(spec, { a1: OLD, a2: NEW, b1: OLD, c1: OLD }, ['+b', '-a1']);
  checkUpdate(spec, { a1: OLD, b1: { ...OLD, ...UNREADY }, c1: OLD }, ['+b', '+a']);
  checkPods(spec, { a1: OLD, a2: UNREADY, b1: OLD, c1: OLD }, []);
  checkPods(spec, { a1: { ...OLD, ...UNREADY }, a2: UNREADY, b1: OLD, c1: OLD }, ['-a1']);
  checkPods(spec, { a1: OLD, a2: NEW, b1: OLD, c1: LEAVING }, ['+c', '-a1']);
});

test('with surge, a pod on a node no longer eligible remains until all others are available', () => {
  const spec = { updateStrategy: SURGE };
  const nodes = [newNode('a', { taints: [{ key: 'x', effect: 'NoSchedule' }] }), newNode('b')];
  checkUpdate(spec, { a1: OLD, b1: UNREADY }, [], nodes);
  checkUpdate(spec, { a1: OLD, b1: NEW }, ['-a1'], nodes);
});

test('the status counts nodes by their oldest pod', () => {
  const nodes = [
    ...['a', 'b', 'c'].map((name) => newNode(name)),
    newNode('d', { taints: [{ key: 'x', effect: 'NoSchedule' }] }),
  ];
  const pods = { a1: NEW, b1: { ...UNREADY, ...OLD }, d1: NEW };
  assert.deepEqual(daemonSetStatus(newView({}, pods, nodes), 0), {
    observedGeneration: 1,
    desiredNumberScheduled: 3,
    currentNumberScheduled: 2,
    numberMisscheduled: 1,
    numberReady: 1,
    updatedNumberScheduled: 1,
    numberAvailable: 1,
    numberUnavailable: 2,
  });
});
