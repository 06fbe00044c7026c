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

/** Each step of a plan with something to do; the compiler asks for a new one here. */
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

test('a plan without a step is empty, whatever sandbox it names', () => {
  assert.equal(isEmptyPlan(empty), true);
  assert.equal(describePodActions(empty), 'nothing to do');
});

test('each step alone makes a plan that is not empty, and says what is done', () => {
  for (const [name, step] of Object.entries(steps)) {
    const plan = { ...empty, [name]: step };
    assert.equal(isEmptyPlan(plan), false, name);
    assert.notEqual(describePodActions(plan), 'nothing to do', name);
  }
});

test('a step that nothing describes is no empty plan either', () => {
  const plan: PodActions & { containersToPolish: string[] } = { ...empty, containersToPolish: ['web'] };
  assert.equal(isEmptyPlan(plan), false);
});
