import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodCondition, PodStatus } from '@podwright/kube-api';
import { mergeStatus } from './merge-status.ts';
import { statusPatch } from './status-patch.ts';

const condition = (type: string, status: PodCondition['status'] = 'True', more: Partial<PodCondition> = {}) => ({
  ...{ type, status, lastProbeTime: null, lastTransitionTime: '2026-01-01T00:00:00Z' },
  ...more,
});

const container = (restartCount: number, state: object = { running: { startedAt: '2026-01-01T00:00:00Z' } }) => ({
  ...{ name: 'main', image: 'a', imageID: 'b', ready: true, lastState: {}, resources: {} },
  ...{ restartCount, state },
});

test('a patch contains the changed fields owned by the kubelet', () => {
  const check = (before: object | undefined, after: object, expected: object | undefined) => {
    const { body, changed } = statusPatch({ uid: 'u' }, before as PodStatus, after as PodStatus);
    assert.deepEqual(body, { metadata: { uid: 'u' }, ...(expected && { status: expected }) });
    assert.equal(changed, expected !== undefined);
  };
  check({ phase: 'Running' }, { phase: 'Running' }, undefined);
  check(undefined, { phase: 'Pending' }, { phase: 'Pending' });
  check({ phase: 'Pending', reason: 'x', message: '' }, { phase: 'Running' }, { phase: 'Running', reason: null });
  check({ nominatedNodeName: 'n', resourceClaimStatuses: [] }, { phase: 'Running' }, { phase: 'Running' });
  check({ containerStatuses: [container(0)] }, { containerStatuses: [container(0)] }, undefined);
  check(
    { containerStatuses: [{ ...container(0), lastState: {}, started: null }] },
    { containerStatuses: [container(1)] },
    { containerStatuses: [container(1)] },
  );
  check(
    { podIPs: [{ ip: '1' }, { ip: '2' }] },
    { podIPs: [{ ip: '2' }, { ip: '3' }] },
    { '$setElementOrder/podIPs': [{ ip: '2' }, { ip: '3' }], podIPs: [{ ip: '3' }, { $patch: 'delete', ip: '1' }] },
  );
  check(
    { resources: { requests: { cpu: '1', memory: '1Gi' } } },
    { resources: { requests: { cpu: '2' } } },
    { resources: { requests: { cpu: '2', memory: null } } },
  );
  check({ allocatedResources: { cpu: '1' } }, {}, { allocatedResources: null });
  check({ phase: 'Pending' }, { phase: 'Pending', podIPs: [{ ip: '1' }] }, { podIPs: [{ ip: '1' }] });
});

test('conditions are merged by type, along with their order if one changes', () => {
  const check = (before: object[], after: object[], expected: object[] | undefined) => {
    const { body } = statusPatch(
      { uid: 'u' },
      { phase: 'Running', conditions: before as PodCondition[] },
      {
        phase: 'Running',
        conditions: after as PodCondition[],
      },
    );
    const order = (after as PodCondition[]).map(({ type }) => ({ type }));
    const status = { '$setElementOrder/conditions': order, ...(expected?.length !== 0 && { conditions: expected }) };
    assert.deepEqual(body.status, expected && status);
  };
  check([condition('A')], [condition('A')], undefined);
  check([condition('A')], [condition('A'), condition('B')], [condition('B')]);
  check([condition('A')], [condition('A', 'False', { reason: 'r' })], [{ type: 'A', status: 'False', reason: 'r' }]);
  check(
    [condition('A', 'False', { reason: 'r', message: 'm' })],
    [condition('A', 'False', { reason: 'r' })],
    [{ type: 'A', message: null }],
  );
  check([condition('A'), condition('B')], [condition('B')], [{ $patch: 'delete', type: 'A' }]);
  check([condition('A'), condition('B')], [condition('B'), condition('A')], []);
});

test('other writers’ conditions and the start time are preserved, and observedGeneration never decreases', () => {
  const foreign = condition('example.com/gate');
  const theirs = {
    ...{ phase: 'Running', startTime: 'then', observedGeneration: 3 },
    conditions: [foreign, condition('Ready')],
  } as PodStatus;
  const own = {
    ...{ phase: 'Running', startTime: 'later', observedGeneration: 2 },
    conditions: [condition('example.com/gate', 'False'), condition('Ready', 'False')],
  } as PodStatus;
  assert.deepEqual(mergeStatus({ theirs, own, couldRun: true }), {
    ...own,
    conditions: [foreign, condition('Ready', 'False')],
    startTime: 'then',
    observedGeneration: 3,
  });
});

test('a terminal phase is withheld, along with DisruptionTarget, while containers may run', () => {
  const target = condition('DisruptionTarget');
  const theirs: PodStatus = { phase: 'Running' };
  const own: PodStatus = { phase: 'Failed', reason: 'Evicted', message: 'low', conditions: [target] };
  assert.deepEqual(mergeStatus({ theirs, own, couldRun: true }), { phase: 'Running', conditions: [] });
  assert.deepEqual(mergeStatus({ theirs, own, couldRun: false }), own);
  const evicted = {
    ...theirs,
    conditions: [condition('DisruptionTarget', 'True', { reason: 'EvictionByEvictionAPI' })],
  };
  assert.deepEqual(mergeStatus({ theirs: evicted, own: { phase: 'Running', conditions: [target] }, couldRun: true }), {
    phase: 'Running',
    conditions: evicted.conditions,
  });
});
