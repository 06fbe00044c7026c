import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, Pod, PodSpec, PodStatus } from '@podwright/kube-api';
import type { RuntimeContainer, RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import { generatePodStatus, type PodStatusInput } from './generate-pod-status.ts';
import { withProbeAnswers } from './probe-answers.ts';

const app: Container = { name: 'app', image: 'busybox' };
const prepare: Container = { name: 'prepare', image: 'busybox' };

function podOf(spec: Partial<PodSpec> = {}): Pod {
  const metadata = { name: 'web', namespace: 'default', uid: 'u1' };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [app], restartPolicy: 'Always', ...spec } };
}

function seen(name: string, rest: Partial<RuntimeContainer> = {}): RuntimeContainer {
  return {
    id: `${name}-0`,
    containerId: `fake://${name}-0`,
    sandboxId: 's0',
    name,
    state: 'running',
    createdAtMs: 1000,
    startedAtMs: 2000,
    finishedAtMs: 0,
    exitCode: 0,
    reason: '',
    message: '',
    image: 'busybox:1',
    imageId: 'sha256:1',
    hash: '',
    restartCount: 0,
    terminationGracePeriodSeconds: undefined,
    logPath: '',
    preStop: undefined,
    ...rest,
  };
}

function runtimeOf(containers: RuntimeContainer[], ready = true): RuntimePodStatus {
  const sandbox = {
    id: 's0',
    owner: { uid: 'u1', namespace: 'default', name: 'web', file: '' },
    ready,
    attempt: 0,
    createdAtMs: 500,
    hostNetwork: false,
    ips: ['10.0.0.2'],
  };
  return { pod: { name: 'web', namespace: 'default', uid: 'u1' }, sandboxes: [sandbox], containers };
}

function statusOf(input: Partial<PodStatusInput> & { runtime: RuntimePodStatus }): PodStatus {
  return generatePodStatus({
    pod: podOf(),
    previous: undefined,
    waitingReason: () => undefined,
    readiness: () => undefined,
    startup: () => undefined,
    recursiveReadOnly: true,
    terminal: false,
    hostIps: ['192.0.2.1'],
    nowMs: 10_000,
    ...input,
  }).status;
}

const condition = (status: PodStatus, type: string) => status.conditions!.find((one) => one.type === type)!;
const exited = { state: 'exited', exitCode: 1, finishedAtMs: 3000 } as const;

test('a container that has not been created is waiting, with the reason PodInitializing if there are init containers', () => {
  const runtime = { ...runtimeOf([]), sandboxes: [] };
  assert.deepEqual(statusOf({ runtime }).containerStatuses![0]!.state, { waiting: { reason: 'ContainerCreating' } });
  const pod = podOf({ initContainers: [prepare] });
  const status = statusOf({ pod, runtime });
  assert.deepEqual(status.containerStatuses![0]!.state, { waiting: { reason: 'PodInitializing' } });
  assert.equal(condition(status, 'Initialized').message, 'containers with incomplete status: [prepare]');
  assert.equal(condition(status, 'PodReadyToStartContainers').status, 'False');
});

test('statuses are sorted by name, init containers are in spec order, and ephemeral containers have no `started`', () => {
  const named = (name: string) => ({ name, image: 'busybox' });
  const status = statusOf({
    pod: podOf({
      initContainers: [named('z'), named('y')],
      containers: [named('b'), named('a')],
      ephemeralContainers: [named('d'), named('c')],
    }),
    runtime: runtimeOf([]),
  });
  const names = (list: PodStatus['containerStatuses']) => list!.map(({ name }) => name).join('');
  assert.equal(names(status.initContainerStatuses), 'zy');
  assert.equal(names(status.containerStatuses), 'ab');
  assert.equal(names(status.ephemeralContainerStatuses), 'cd');
  assert.equal(
    status.ephemeralContainerStatuses!.some((one) => 'started' in one),
    false,
  );
});

test('a running pod is ready, with its addresses and start time', () => {
  const status = statusOf({ runtime: runtimeOf([seen('app')]) });
  assert.equal(status.phase, 'Running');
  assert.equal(status.podIP, '10.0.0.2');
  assert.equal(status.hostIP, '192.0.2.1');
  assert.equal(status.startTime, '1970-01-01T00:00:00Z');
  assert.equal(condition(status, 'Ready').status, 'True');
  assert.equal(status.containerStatuses![0]!.containerID, 'fake://app-0');
});

test('a container with probes is started and ready when they succeed', () => {
  const probe = { exec: { command: ['true'] } };
  const pod = podOf({ containers: [{ ...app, readinessProbe: probe, startupProbe: probe }] });
  const runtime = runtimeOf([seen('app')]);
  const facts = (startup?: 'success', readiness?: 'success') => {
    const status = statusOf({ pod, runtime, startup: () => startup, readiness: () => readiness });
    const { started, ready } = status.containerStatuses![0]!;
    return { started, ready, condition: condition(status, 'Ready').status };
  };
  assert.deepEqual(facts(), { started: false, ready: false, condition: 'False' });
  assert.deepEqual(facts('success'), { started: true, ready: false, condition: 'False' });
  assert.deepEqual(facts('success', 'success'), { started: true, ready: true, condition: 'True' });
});

test('a container in restart back-off is waiting, and its terminated state becomes the last state', () => {
  const reason = { reason: 'CrashLoopBackOff', message: 'back-off 10s' };
  const status = statusOf({
    runtime: runtimeOf([seen('app', { ...exited, restartCount: 2, message: 'no database' })]),
    waitingReason: () => reason,
  });
  const [container] = status.containerStatuses!;
  assert.deepEqual(container!.state, { waiting: reason });
  assert.equal(container!.lastState.terminated!.exitCode, 1);
  assert.equal(container!.lastState.terminated!.reason, 'Error');
  assert.equal(container!.lastState.terminated!.message, 'no database');
  assert.equal(container!.restartCount, 2);
  assert.equal(status.phase, 'Running');
});

test('an init container that must run again but cannot start is not ready', () => {
  const done = statusOf({
    pod: podOf({ initContainers: [prepare] }),
    runtime: runtimeOf([seen('prepare', { ...exited, exitCode: 0 })]),
  });
  assert.equal(done.initContainerStatuses![0]!.ready, true);
  const again = statusOf({
    pod: podOf({ initContainers: [prepare] }),
    runtime: runtimeOf([]),
    previous: done,
    waitingReason: () => ({ reason: 'CreateContainerConfigError', message: 'no' }),
  });
  assert.equal(again.initContainerStatuses![0]!.ready, false);
});

test('a container that failed to start and is not restarted is terminated, without a last state', () => {
  const pod = podOf({ restartPolicy: 'Never' });
  const runtime = runtimeOf([seen('app', { state: 'exited', exitCode: 0, finishedAtMs: 3000 })]);
  const waitingReason = () => ({ reason: 'PostStartHookError', message: 'PostStartHook failed' });
  const status = statusOf({ pod, runtime, waitingReason });
  assert.equal(status.containerStatuses![0]!.state.terminated!.exitCode, 0);
  assert.deepEqual(status.containerStatuses![0]!.lastState, {});
  assert.equal(status.phase, 'Succeeded');
});

test('the previous exit is the last state of a restarted container', () => {
  const runtime = runtimeOf([seen('app', { id: 'app-1', restartCount: 1 }), seen('app', exited)]);
  const [container] = statusOf({ runtime }).containerStatuses!;
  assert.ok(container!.state.running);
  assert.equal(container!.lastState.terminated!.exitCode, 1);
});

test('a completed pod has the reason PodCompleted, and is not ready', () => {
  const pod = podOf({ restartPolicy: 'Never' });
  const done = { ...exited, exitCode: 0 };
  const status = statusOf({ pod, runtime: runtimeOf([seen('app', done)], false), terminal: true });
  assert.equal(status.phase, 'Succeeded');
  assert.equal(status.containerStatuses![0]!.state.terminated!.reason, 'Completed');
  assert.equal(condition(status, 'Ready').reason, 'PodCompleted');
  assert.equal(condition(status, 'Initialized').reason, 'PodCompleted');
});

test('a completed pod with a running sidecar is shown as Running, but returned as ended', () => {
  const proxy: Container = { name: 'proxy', image: 'busybox', restartPolicy: 'Always' };
  const pod = podOf({ restartPolicy: 'Never', initContainers: [proxy] });
  const runtime = runtimeOf([seen('app', { ...exited, exitCode: 0 }), seen('proxy')]);
  const input = { waitingReason: () => undefined, readiness: () => undefined, startup: () => undefined };
  const { status, ended } = generatePodStatus({
    recursiveReadOnly: false,
    pod,
    runtime,
    previous: undefined,
    terminal: false,
    hostIps: [],
    nowMs: 0,
    ...input,
  });
  assert.equal(status.phase, 'Running');
  assert.equal(ended, true);
});

test('a decision to fail the pod is permanent, and its reason is shown', () => {
  const verdict = { reason: 'DeadlineExceeded', message: 'too long' };
  const first = statusOf({ runtime: runtimeOf([seen('app')]), verdict });
  assert.equal(first.reason, 'DeadlineExceeded');
  assert.equal(first.phase, 'Running');
  const answers = { probes: { readiness: () => 'success' as const, startup: () => undefined }, now: 'now' };
  for (const status of [first, withProbeAnswers(podOf(), first, answers)])
    for (const type of ['Ready', 'ContainersReady'])
      assert.deepEqual([condition(status, type).status, condition(status, type).reason], ['False', 'PodFailed']);
  const later = statusOf({
    runtime: runtimeOf([seen('app', exited)], false),
    previous: first,
    verdict,
    terminal: true,
  });
  const last = statusOf({ runtime: runtimeOf([], false), previous: later });
  for (const status of [later, last]) {
    assert.equal(status.phase, 'Failed');
    assert.equal(status.message, 'too long');
  }
});

test('a pod that is terminated before it was Running stays Pending until its containers have stopped', () => {
  const pod = podOf({ initContainers: [{ name: 'prepare', image: 'busybox' }] });
  const previous = statusOf({ pod, runtime: runtimeOf([seen('prepare')]) });
  assert.equal(previous.phase, 'Pending');
  const verdict = { reason: 'DeadlineExceeded', message: 'too long' };
  const phase = (ready: boolean, state: Partial<RuntimeContainer>) =>
    statusOf({ pod, previous, verdict, runtime: runtimeOf([seen('prepare', state)], ready) }).phase;
  assert.equal(phase(true, {}), 'Pending');
  assert.equal(phase(false, exited), 'Failed');
});

test('states of containers removed from the runtime are kept from the previous status', () => {
  const pod = podOf({ restartPolicy: 'Never' });
  const before = statusOf({
    pod,
    runtime: runtimeOf([seen('app', { ...exited, restartCount: 0 })], false),
    terminal: true,
  });
  const after = statusOf({ pod, runtime: runtimeOf([], false), previous: before, terminal: true });
  assert.deepEqual(after.containerStatuses![0]!.state, before.containerStatuses![0]!.state);
});

test('a condition keeps its transition time until it changes', () => {
  const first = statusOf({ runtime: runtimeOf([seen('app')]) });
  const second = statusOf({ runtime: runtimeOf([seen('app')]), previous: first, nowMs: 99_000 });
  assert.equal(condition(second, 'Ready').lastTransitionTime, condition(first, 'Ready').lastTransitionTime);
  const third = statusOf({ runtime: runtimeOf([seen('app', exited)]), previous: second, nowMs: 99_000 });
  assert.equal(condition(third, 'Ready').lastTransitionTime, '1970-01-01T00:01:39Z');
});

test('an unset readiness gate keeps the pod unready', () => {
  const status = statusOf({
    pod: podOf({ readinessGates: [{ conditionType: 'x/ok' }] }),
    runtime: runtimeOf([seen('app')]),
  });
  assert.equal(condition(status, 'ContainersReady').status, 'True');
  assert.equal(condition(status, 'Ready').reason, 'ReadinessGatesNotReady');
});

test('the termination messages of a pod share 12 KiB, and no character is split', () => {
  const containers = ['a', 'b', 'c', 'd'].map((name) => ({ name, image: 'busybox' }));
  const message = `${'x'.repeat(3071)}é${'x'.repeat(2000)}`;
  const { containerStatuses } = statusOf({
    pod: podOf({ containers, restartPolicy: 'Never' }),
    runtime: runtimeOf(containers.map(({ name }) => seen(name, { ...exited, message }))),
  });
  for (const { state } of containerStatuses!) assert.equal(state.terminated!.message, 'x'.repeat(3071));
});

test('a container that was running and is now in the unknown state has failed, but its pod still counts as started', () => {
  const previous = statusOf({ runtime: runtimeOf([seen('app')]) });
  const unknown = runtimeOf([seen('app', { state: 'unknown' })]);
  const status = statusOf({ runtime: unknown, previous });
  const { terminated } = status.containerStatuses![0]!.state;
  assert.deepEqual([terminated?.exitCode, terminated?.reason], [137, 'ContainerStatusUnknown']);
  assert.equal(status.containerStatuses![0]!.restartCount, 1, 'the coming restart is counted');
  assert.equal(status.phase, 'Running');
  assert.deepEqual(statusOf({ runtime: unknown, previous: status }).containerStatuses, status.containerStatuses);
  assert.equal(statusOf({ runtime: unknown }).phase, 'Pending', 'it was never seen running');
});

test('a removed ephemeral container is terminated and not restarted', () => {
  const pod = podOf({ ephemeralContainers: [{ name: 'shell', image: 'busybox' }] });
  const withoutRecord = (shell: RuntimeContainer) => {
    const previous = statusOf({ pod, runtime: runtimeOf([seen('app'), shell]) });
    const [now] = statusOf({ pod, runtime: runtimeOf([seen('app')]), previous }).ephemeralContainerStatuses!;
    return [now!.state.terminated?.exitCode, now!.state.terminated?.reason, now!.restartCount];
  };
  assert.deepEqual(withoutRecord(seen('shell', { ...exited, reason: 'Error' })), [1, 'Error', 0]);
  assert.deepEqual(withoutRecord(seen('shell')), [137, 'ContainerStatusUnknown', 0]);
});

test('a pod with a new sandbox is pending while its init containers run again, and stays initialized', () => {
  const pod = podOf({ initContainers: [prepare] });
  const before = statusOf({ pod, runtime: runtimeOf([seen('app')]) });
  const runtime = runtimeOf([seen('prepare'), seen('app', { ...exited, sandboxId: 's-old' })]);
  const status = statusOf({ pod, runtime, previous: before });
  assert.equal(status.phase, 'Pending');
  assert.equal(condition(status, 'Initialized').status, 'True');
  assert.equal(statusOf({ pod, runtime: runtimeOf([seen('app')]), previous: status }).phase, 'Running');
});

test('an init container without a record is completed once a main container has been created', () => {
  const pod = podOf({ initContainers: [prepare] });
  const { initContainerStatuses } = statusOf({ pod, runtime: runtimeOf([seen('app')]) });
  assert.equal(initContainerStatuses![0]!.state.terminated?.reason, 'Completed');
  assert.equal(initContainerStatuses![0]!.ready, true);
});

test('a running container is shown with its own limits and those of its pod', () => {
  const own = { limits: { cpu: '1' }, requests: { cpu: '1' } };
  const pod = podOf({ containers: [{ ...app, resources: own }], resources: { limits: { memory: '64Mi', cpu: '2' } } });
  const check = (state: 'running' | 'exited', expected: object) => {
    const status = statusOf({ pod, runtime: runtimeOf([seen('app', { state })]) });
    assert.deepEqual(status.containerStatuses![0]!.resources?.limits, expected);
  };
  check('running', { cpu: '1', memory: '64Mi' });
  check('exited', { cpu: '1' });
});

test('a container is shown with its resources, mounts, user and stop signal', () => {
  const resources = { requests: { cpu: '1' }, limits: { cpu: '2' } };
  const volumeMounts = [
    { name: 'a', mountPath: '/a' },
    { name: 'b', mountPath: '/b', readOnly: true },
    { name: 'c', mountPath: '/c', readOnly: true, recursiveReadOnly: 'IfPossible' as const },
  ];
  const pod = podOf({ containers: [{ ...app, resources, volumeMounts }] });
  pod.metadata.generation = 3;
  const user = { uid: 1, gid: 2, supplementalGroups: [2, 3] };
  const status = statusOf({ pod, runtime: runtimeOf([seen('app', { user, stopSignal: 'SIGUSR1' })]) });
  const [shown] = status.containerStatuses!;
  assert.deepEqual([shown!.resources, shown!.allocatedResources], [resources, { cpu: '1' }]);
  assert.deepEqual([shown!.user, shown!.stopSignal], [{ linux: user }, 'SIGUSR1']);
  assert.deepEqual(shown!.volumeMounts, [
    { name: 'a', mountPath: '/a' },
    { name: 'b', mountPath: '/b', readOnly: true, recursiveReadOnly: 'Disabled' },
    { name: 'c', mountPath: '/c', readOnly: true, recursiveReadOnly: 'Enabled' },
  ]);
  assert.equal(status.observedGeneration, 3);
  assert.ok(status.conditions!.every(({ observedGeneration }) => observedGeneration === 3));
  const waiting = statusOf({ pod, runtime: runtimeOf([]) }).containerStatuses![0]!;
  assert.deepEqual([waiting.resources, waiting.volumeMounts?.length], [undefined, 3]);
});

test('the restart count never decreases', () => {
  const previous = statusOf({ runtime: runtimeOf([seen('app', { restartCount: 4 })]) });
  const removed = statusOf({ runtime: runtimeOf([]), previous });
  assert.equal(removed.containerStatuses![0]!.restartCount, 5);
  assert.equal(statusOf({ runtime: runtimeOf([]), previous: removed }).containerStatuses![0]!.restartCount, 5);
  const recreated = statusOf({
    runtime: runtimeOf([seen('app', { id: 'app-1', containerId: 'fake://app-1' })]),
    previous: removed,
  });
  assert.equal(recreated.containerStatuses![0]!.restartCount, 5);
});
