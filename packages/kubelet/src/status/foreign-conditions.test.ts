import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConditionStatus, Pod, PodStatus } from '@podwright/kube-api';
import { type ConditionsPatch, withForeignConditions } from './foreign-conditions.ts';
import { refreshedConditions } from './pod-conditions.ts';

const app = { name: 'app', image: 'i', imageID: '', restartCount: 0, lastState: {}, ready: true, started: true };
const spec = { containers: [{ name: 'app', image: 'i' }], readinessGates: [{ conditionType: 'gate' }] };
const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'd', uid: 'u' }, spec };
const bare: PodStatus = {
  phase: 'Running',
  containerStatuses: [{ ...app, state: { running: { startedAt: 'then' } } }],
};
const shown: PodStatus = { ...bare, conditions: refreshedConditions(pod, bare, 'then') };

const patched = (status: PodStatus, patch: Partial<ConditionsPatch>) =>
  withForeignConditions(pod, status, { patch: { set: [], remove: [], replace: false, ...patch }, now: 'now' });
const set = (type: string, status: ConditionStatus) => ({ set: [{ type, status }] });
const statusOf = (status: PodStatus, type: string) => status.conditions!.find((one) => one.type === type)?.status;

test('readiness depends on the condition for a readiness gate', () => {
  assert.equal(statusOf(shown, 'Ready'), 'False');
  const open = patched(shown, set('gate', 'True'));
  assert.deepEqual([statusOf(open, 'gate'), statusOf(open, 'Ready')], ['True', 'True']);
  assert.equal(statusOf(patched(open, set('gate', 'False')), 'Ready'), 'False');
  assert.equal(statusOf(patched(open, { remove: ['gate'] }), 'Ready'), 'False');
  assert.equal(statusOf(patched(open, { replace: true }), 'gate'), undefined);
  assert.equal(open.conditions!.find(({ type }) => type === 'gate')!.lastTransitionTime, 'now');
});

test("clients may not change the kubelet's own conditions, but may send them back unchanged", () => {
  const refused = { message: "patch the status: the condition Ready is the kubelet's own" };
  assert.throws(() => patched(shown, set('Ready', 'True')), refused);
  assert.throws(() => patched(shown, set('Ready', 'False')), refused);
  assert.throws(() => patched(shown, { remove: ['Ready'] }), refused);
  assert.throws(() => patched(shown, { ...set('Ready', 'True'), replace: true }), refused);
  assert.deepEqual(patched(shown, { ...set('Ready', 'False'), replace: true }).conditions, shown.conditions);
  assert.equal(statusOf(patched(shown, set('DisruptionTarget', 'True')), 'DisruptionTarget'), 'True');
});

test('a rejected pod gets no other conditions', () => {
  const { conditions } = patched({ phase: 'Failed' }, set('gate', 'True'));
  assert.deepEqual(
    conditions?.map(({ type }) => type),
    ['gate'],
  );
});
