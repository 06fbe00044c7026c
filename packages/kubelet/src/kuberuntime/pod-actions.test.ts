import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describePodActions, isEmptyPlan, type PodActions } from './pod-actions.ts';

const empty: PodActions = {
  killPod: false,
  createSandbox: false,
  sandboxId: 'sandbox',
  attempt: 3,
  containersToKill: [],
  containersToReset: [],
  ephemeralContainersToStart: [],
  containersToUpdate: [],
  initContainersToStart: [],
  containersToStart: [],
};

/** A value for each step that a plan may contain; the compiler requires an entry for every new step. */
const steps: Required<Omit<PodActions, 'sandboxId' | 'attempt'>> = {
  killPod: true,
  createSandbox: true,
  containersToKill: [{ id: 'id', name: 'web', reason: 'unknownState', message: '' }],
  containersToReset: [{ id: 'id', name: 'web', kill: true }],
  ephemeralContainersToStart: ['debugger'],
  containersToUpdate: [{ id: 'id', name: 'web', from: {}, to: {}, resources: [{ resource: 'cpu', change: 'more' }] }],
  initContainersToStart: ['setup'],
  containersToStart: ['web'],
};

test('a plan without steps is empty, even if it names a sandbox', () => {
  assert.equal(isEmptyPlan(empty), true);
  assert.equal(describePodActions(empty), 'nothing to do');
});

test('each single step makes a plan non-empty and has a description', () => {
  for (const [name, step] of Object.entries(steps)) {
    const plan = { ...empty, [name]: step };
    assert.equal(isEmptyPlan(plan), false, name);
    assert.notEqual(describePodActions(plan), 'nothing to do', name);
  }
});

test('a plan with an unknown step is not empty', () => {
  const plan: PodActions & { containersToPolish: string[] } = { ...empty, containersToPolish: ['web'] };
  assert.equal(isEmptyPlan(plan), false);
});
