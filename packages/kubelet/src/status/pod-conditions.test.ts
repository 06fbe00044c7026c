import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, ContainerStatus, Pod, PodCondition } from '@podwright/kube-api';
import { type ConditionsInput, podConditions } from './pod-conditions.ts';

const container = (name: string, rest: Partial<Container> = {}): Container => ({ name, image: 'busybox', ...rest });

/** Parses a status from `name`, `name:ready`, `name:started`, or `name:ran` for a container that ran before. */
function statusOf(text: string): ContainerStatus {
  const [name = '', what] = text.split(':');
  const running = { running: { startedAt: '2026-01-01T00:00:00Z' } };
  return {
    ...({ name, image: 'busybox', imageID: '', restartCount: 0, lastState: {} } as Partial<ContainerStatus>),
    state: what === undefined ? { waiting: { reason: 'PodInitializing' } } : running,
    ready: what === 'ready',
    started: what === 'ready' || what === 'started',
  } as ContainerStatus;
}

type Given = Partial<Omit<ConditionsInput, 'statuses' | 'initStatuses'>> & {
  spec?: Partial<Pod['spec']>;
  statuses?: string[];
  init?: string[];
};

function conditions({ spec = {}, statuses = [], init = [], ...rest }: Given): PodCondition[] {
  const metadata = { name: 'p', namespace: 'd', uid: 'u' };
  return podConditions({
    pod: { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [container('app')], ...spec } },
    phase: 'Running',
    passing: [],
    initStatuses: init.map(statusOf),
    statuses: statuses.map(statusOf),
    sandboxReady: true,
    previous: [],
    now: 'now',
    ...rest,
  });
}

/** Checks conditions given as letters, upper case for True: Sandbox, Initialized, Ready, Containers, Planned (scheduled). */
function check(given: Given, letters: string, reasons: Record<string, string> = {}): void {
  const all = conditions(given);
  const order = ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'];
  const own = order.map((type) => all.find((one) => one.type === type)!);
  const seen = own.map(({ status }, index) => (status === 'True' ? 'SIRCP' : 'sircp')[index]).join('');
  assert.equal(seen, letters, JSON.stringify(given));
  const shown = Object.fromEntries(own.flatMap(({ type, reason }) => (reason === undefined ? [] : [[type, reason]])));
  assert.deepEqual(shown, reasons);
}

const unready = { Ready: 'ContainersNotReady', ContainersReady: 'ContainersNotReady' };

test('a pod is ready once its containers and sidecars are ready', () => {
  check({ statuses: ['app:ready'] }, 'SIRCP');
  check({ statuses: ['app:started'] }, 'SIrcP', unready);
  const spec = { initContainers: [container('side', { restartPolicy: 'Always' })] };
  check({ spec, init: ['side:started'], statuses: ['app:ready'] }, 'SIrcP', unready);
  check({ spec, init: ['side:ready'], statuses: ['app:ready'] }, 'SIRCP');
});

test('a pod is initialized once its init containers have completed, and stays so after they are removed', () => {
  const spec = { initContainers: [container('first')] };
  const waiting = { Initialized: 'ContainersNotInitialized', ...unready };
  check({ spec, phase: 'Pending', init: ['first:started'], statuses: ['app'] }, 'SircP', waiting);
  check({ spec, phase: 'Pending', init: ['first:ready'], statuses: ['app'] }, 'SIrcP', unready);
  check({ spec, init: ['first'], statuses: ['app:ready'] }, 'SIRCP');
  const done = { type: 'Initialized', status: 'True', lastProbeTime: null, lastTransitionTime: 'then' } as const;
  check({ spec, phase: 'Pending', init: ['first:started'], statuses: ['app'], previous: [done] }, 'SIrcP', unready);
  const [, initialized] = conditions({ spec, phase: 'Pending', statuses: ['app'] });
  assert.equal(initialized!.message, 'containers with incomplete status: [first]');
});

test('the conditions of a terminated pod have the reason for its end', () => {
  const done = { Initialized: 'PodCompleted', Ready: 'PodCompleted', ContainersReady: 'PodCompleted' };
  check({ phase: 'Succeeded', sandboxReady: false }, 'sIrcP', done);
  check({ phase: 'Failed', sandboxReady: false }, 'sIrcP', { Ready: 'PodFailed', ContainersReady: 'PodFailed' });
});

test('unset readiness gates keep a pod unready, and conditions of other writers are kept', () => {
  const spec = { readinessGates: [{ conditionType: 'gate' }] };
  const gate = (status: 'True' | 'False'): PodCondition => ({
    type: 'gate',
    status,
    lastProbeTime: null,
    lastTransitionTime: 'then',
  });
  const closed = { Ready: 'ReadinessGatesNotReady' };
  check({ spec, statuses: ['app:ready'] }, 'SIrCP', closed);
  check({ spec, statuses: ['app:ready'], previous: [gate('False')] }, 'SIrCP', closed);
  check({ spec, statuses: ['app:ready'], previous: [gate('True')] }, 'SIRCP');
  assert.deepEqual(conditions({ spec, previous: [gate('True')] })[0], gate('True'));
});

test('the transition time of a condition is that of its last change', () => {
  const previous = conditions({ statuses: ['app:started'], now: 'then' });
  const times = Object.fromEntries(
    conditions({ statuses: ['app:ready'], previous }).map(({ type, lastTransitionTime }) => [type, lastTransitionTime]),
  );
  assert.deepEqual([times.Ready, times.ContainersReady, times.PodScheduled], ['now', 'now', 'then']);
});

test('lastProbeTime of resize conditions is the time of their last transition', () => {
  const resize = { type: 'PodResizeInProgress', status: 'True' } as const;
  const [begun] = conditions({ passing: [resize], now: 'then' });
  const [later] = conditions({ passing: [resize], previous: [begun!] });
  assert.deepEqual([begun!.lastProbeTime, later!.lastProbeTime], ['then', 'then']);
});
