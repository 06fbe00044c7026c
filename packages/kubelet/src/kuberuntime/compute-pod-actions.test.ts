import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, Pod, PodSpec } from '@podwright/kube-api';
import type { RuntimeContainer, RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import type { ProbeResult } from '../prober/probe-results.ts';
import { computePodActions } from './compute-pod-actions.ts';
import { containerHash } from './labels.ts';
import { describePodActions } from './pod-actions.ts';

const app: Container = { name: 'app', image: 'busybox' };
const log: Container = { name: 'log', image: 'busybox' };
const prepare: Container = { name: 'prepare', image: 'busybox' };
const migrate: Container = { name: 'migrate', image: 'busybox' };
const proxy: Container = { name: 'proxy', image: 'busybox', restartPolicy: 'Always' };
const probe = { exec: { command: ['true'] } };

function podOf(spec: Partial<PodSpec>): Pod {
  const metadata = { name: 'web', namespace: 'default', uid: 'u1' };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [app], restartPolicy: 'Always', ...spec } };
}

type Seen = { of: Container } & Partial<RuntimeContainer>;

/** Returns a pod status with the given containers, newest first; they run in the current sandbox by default. */
function statusOf(seen: Seen[], sandbox: Partial<RuntimePodStatus['sandboxes'][0]> | 'none' = {}): RuntimePodStatus {
  const facts = {
    id: 's0',
    owner: { uid: 'u1', namespace: 'default', name: 'web', file: '' },
    ready: true,
    attempt: 0,
    createdAtMs: 0,
    hostNetwork: false,
    ips: ['10.0.0.2'],
  };
  return {
    pod: { name: 'web', namespace: 'default', uid: 'u1' },
    sandboxes: sandbox === 'none' ? [] : [{ ...facts, ...sandbox }],
    containers: seen.map(({ of, ...rest }) => containerOf(of, rest)),
  };
}

function containerOf(of: Container, rest: Partial<RuntimeContainer>): RuntimeContainer {
  return {
    id: `${of.name}-id`,
    containerId: `fake://${of.name}-id`,
    sandboxId: 's0',
    name: of.name,
    state: 'running',
    createdAtMs: 1,
    startedAtMs: 2,
    finishedAtMs: 0,
    exitCode: 0,
    reason: '',
    message: '',
    image: of.image,
    imageId: 'i',
    hash: containerHash(of),
    restartCount: 0,
    terminationGracePeriodSeconds: undefined,
    logPath: '',
    preStop: undefined,
    ...rest,
  };
}

type Probes = {
  liveness?: Record<string, ProbeResult>;
  startup?: Record<string, ProbeResult>;
  restartRequested?: string[];
  restartAll?: boolean;
  ended?: string;
};

function check(spec: Partial<PodSpec>, status: RuntimePodStatus, expected: string, probes: Probes = {}): void {
  const plan = computePodActions({
    pod: podOf(spec),
    status,
    probes: { liveness: (id) => probes.liveness?.[id], startup: (id) => probes.startup?.[id] },
    restartRequested: (id) => probes.restartRequested?.includes(id) ?? false,
    restartAllContainers: probes.restartAll ?? false,
    hasEnded: (name) => name === probes.ended,
  });
  assert.equal(describePodActions(plan), expected);
}

const ended = (of: Container, exitCode: number, rest: Partial<RuntimeContainer> = {}): Seen => ({
  of,
  state: 'exited',
  exitCode,
  ...rest,
});
const nothing = 'nothing to do';

test('a new pod gets a sandbox and its containers, or only its first init container', () => {
  check({}, statusOf([], 'none'), 'kill the pod, create sandbox attempt 0, start container app');
  check(
    { initContainers: [prepare, migrate] },
    statusOf([], 'none'),
    'kill the pod, create sandbox attempt 0, start init container prepare',
  );
});

test('a pod with all containers running needs no action', () => {
  check({ containers: [app, log] }, statusOf([{ of: app }, { of: log }]), nothing);
});

test('a sandbox is re-created if it is missing, duplicate, without an address or in a different network', () => {
  const again = 'kill the pod, create sandbox attempt 1, start container app';
  check({}, statusOf([{ of: app }], { ready: false }), again);
  check({}, statusOf([{ of: app }], { ips: [] }), again);
  check({ hostNetwork: true }, statusOf([{ of: app }]), again);
  check({ hostNetwork: true }, statusOf([{ of: app }], { hostNetwork: true, ips: [] }), nothing);
  const two = statusOf([{ of: app }]);
  two.sandboxes.push({ ...two.sandboxes[0]!, id: 's-old' });
  check({}, two, again);
});

test('a completed pod does not get a new sandbox', () => {
  const gone = { ready: false };
  check({ restartPolicy: 'Never' }, statusOf([ended(app, 1)], gone), 'kill the pod');
  check({ restartPolicy: 'OnFailure' }, statusOf([ended(app, 0)], gone), 'kill the pod');
  check(
    { restartPolicy: 'OnFailure', containers: [app, log] },
    statusOf([ended(app, 0), ended(log, 2)], gone),
    'kill the pod, create sandbox attempt 1, start container log',
  );
});

test('a sandbox that failed before any container ran is retried whatever the restart policy', () => {
  check(
    { restartPolicy: 'Never' },
    statusOf([], { ready: false }),
    'kill the pod, create sandbox attempt 1, start container app',
  );
});

test('an exited container is restarted according to the restart policy', () => {
  const table: [PodSpec['restartPolicy'], number, string][] = [
    ['Always', 0, 'start container app'],
    ['Always', 1, 'start container app'],
    ['OnFailure', 0, nothing],
    ['OnFailure', 1, 'start container app'],
    ['Never', 0, nothing],
    ['Never', 1, nothing],
  ];
  for (const [restartPolicy, exitCode, expected] of table) {
    check({ restartPolicy, containers: [app, log] }, statusOf([ended(app, exitCode), { of: log }]), expected);
  }
});

test('a pod is stopped once all its containers have completed, including its sidecars', () => {
  check({ restartPolicy: 'Never' }, statusOf([ended(app, 0)]), 'kill the pod');
  check(
    { restartPolicy: 'OnFailure', initContainers: [proxy] },
    statusOf([ended(app, 0), ended(proxy, 1)]),
    'kill the pod',
  );
});

test('init containers run one after another, followed by the regular containers', () => {
  const spec = { initContainers: [prepare, migrate] };
  check(spec, statusOf([]), 'start init container prepare');
  check(spec, statusOf([{ of: prepare }]), nothing);
  check(spec, statusOf([ended(prepare, 0)]), 'start init container migrate');
  check(spec, statusOf([{ of: migrate }, ended(prepare, 0)]), nothing);
  check(spec, statusOf([ended(migrate, 0), ended(prepare, 0)]), 'start container app');
  check(spec, statusOf([ended(migrate, 0)]), 'start container app');
});

test('a failed init container is restarted, or fails the pod if the restart policy is Never', () => {
  const initContainers = [prepare];
  check({ initContainers }, statusOf([ended(prepare, 1)]), 'start init container prepare');
  check({ initContainers, restartPolicy: 'OnFailure' }, statusOf([ended(prepare, 1)]), 'start init container prepare');
  check({ initContainers, restartPolicy: 'Never' }, statusOf([ended(prepare, 1)]), 'kill the pod');
});

test('an OOM-killed init container has failed, even if it exited with 0', () => {
  const starved = statusOf([{ ...ended(prepare, 0), reason: 'OOMKilled' }]);
  check({ initContainers: [prepare] }, starved, 'start init container prepare');
  check({ initContainers: [prepare], restartPolicy: 'Never' }, starved, 'kill the pod');
});

test('an init container in unknown state is killed and restarted, or fails the pod if the restart policy is Never', () => {
  const unknown = statusOf([{ of: prepare, state: 'unknown' }]);
  const again = 'kill prepare (unknownState), start init container prepare';
  check({ initContainers: [prepare] }, unknown, again);
  check({ initContainers: [prepare], restartPolicy: 'OnFailure' }, unknown, again);
  check({ initContainers: [prepare], restartPolicy: 'Never' }, unknown, 'kill the pod');
});

test('an init container that was created but never started is started again', () => {
  check({ initContainers: [prepare] }, statusOf([{ of: prepare, state: 'created' }]), 'start init container prepare');
});

test('init containers of an earlier sandbox are ignored', () => {
  const old = { sandboxId: 's-old' };
  check(
    { initContainers: [prepare] },
    statusOf([ended(app, 0, old), ended(prepare, 0, old)]),
    'start init container prepare',
  );
});

test('init containers do not run again after the runtime has removed them', () => {
  check({ initContainers: [prepare] }, statusOf([{ of: app }]), nothing);
  check({ initContainers: [prepare] }, statusOf([ended(app, 1)]), 'start container app');
});

test('the next container starts once a sidecar runs or, if it has a startup probe, once that succeeds', () => {
  const initContainers = [proxy, prepare];
  check({ initContainers }, statusOf([{ of: proxy }]), 'start init container prepare');
  const probed = { ...proxy, startupProbe: probe };
  const waiting = { initContainers: [probed, prepare] };
  check(waiting, statusOf([{ of: probed }]), nothing);
  check(waiting, statusOf([{ of: probed }]), nothing, { startup: { 'proxy-id': 'unknown' } });
  check(waiting, statusOf([{ of: probed }]), 'start init container prepare', { startup: { 'proxy-id': 'success' } });
  check(waiting, statusOf([{ of: probed }]), 'kill proxy (startupProbe), start init container proxy', {
    startup: { 'proxy-id': 'failure' },
  });
});

test('an exited sidecar is always restarted, even if the restart policy is Never', () => {
  const spec = { initContainers: [proxy, prepare], restartPolicy: 'Never' as const };
  check(spec, statusOf([{ of: app }, ended(prepare, 0), ended(proxy, 0)]), 'start init container proxy');
  check(spec, statusOf([{ of: prepare }, ended(proxy, 1)]), 'start init container proxy');
});

test('failed probes and changed definitions cause a container to be killed', () => {
  const probed = { ...app, livenessProbe: probe, startupProbe: probe };
  const containers = [probed, log];
  const status = statusOf([{ of: probed }, { of: log }]);
  const liveness = { liveness: { 'app-id': 'failure' as const } };
  check({ containers }, status, 'kill app (livenessProbe), start container app', liveness);
  check({ containers, restartPolicy: 'Never' }, status, 'kill app (livenessProbe)', liveness);
  check({ containers }, status, 'kill app (startupProbe), start container app', { startup: { 'app-id': 'failure' } });
  check(
    { containers: [{ ...app, image: 'busybox:2' }, log], restartPolicy: 'Never' },
    status,
    'kill app (definitionChanged), start container app',
  );
  check({ containers: [app, log] }, status, nothing, liveness);
});

test('a container with a requested restart is killed and started, whatever its exit code', () => {
  const requested = { restartRequested: ['app-id'] };
  check({}, statusOf([{ of: app }]), 'kill app (restartRequested), start container app', requested);
  check(
    { restartPolicy: 'OnFailure' },
    statusOf([{ of: app }]),
    'kill app (restartRequested), start container app',
    requested,
  );
  const sidecar = statusOf([{ of: app }, { of: proxy }, ended(prepare, 0)]);
  check({ initContainers: [proxy, prepare] }, sidecar, 'kill proxy (restartRequested), start init container proxy', {
    restartRequested: ['proxy-id'],
  });
});

test('a container in the unknown state is killed before its replacement starts', () => {
  check({}, statusOf([{ of: app, state: 'unknown' }]), 'kill app (unknownState), start container app');
});

test('the restart policy of a container overrides that of its pod', () => {
  const own = (restartPolicy: Container['restartPolicy']) => ({ containers: [{ ...app, restartPolicy }, log] });
  const table: [PodSpec['restartPolicy'], Container['restartPolicy'], number, string][] = [
    ['Never', 'Always', 0, 'start container app'],
    ['Never', 'OnFailure', 0, nothing],
    ['Never', 'OnFailure', 1, 'start container app'],
    ['Always', 'Never', 1, nothing],
    ['Always', 'OnFailure', 0, nothing],
  ];
  for (const [restartPolicy, policy, exitCode, expected] of table) {
    check({ restartPolicy, ...own(policy) }, statusOf([ended(app, exitCode), { of: log }]), expected);
  }
  const init = (restartPolicy: Container['restartPolicy']) => ({ initContainers: [{ ...prepare, restartPolicy }] });
  check(
    { restartPolicy: 'Never', ...init('OnFailure') },
    statusOf([ended(prepare, 1)]),
    'start init container prepare',
  );
  check({ restartPolicy: 'Always', ...init('Never') }, statusOf([ended(prepare, 1)]), 'kill the pod');
  const liveness = { liveness: { 'app-id': 'failure' as const } };
  const probed = { containers: [{ ...app, livenessProbe: probe, restartPolicy: 'Never' as const }, log] };
  check(probed, statusOf([{ of: app }, { of: log }]), 'kill app (livenessProbe)', liveness);
});

test('the first restart rule that matches the exit code overrides the restart policy', () => {
  const rules: Container['restartPolicyRules'] = [
    { action: 'Restart', exitCodes: { operator: 'In', values: [42] } },
    { action: 'Restart', exitCodes: { operator: 'NotIn', values: [0, 1, 2] } },
  ];
  const spec = {
    restartPolicy: 'Never' as const,
    containers: [{ ...app, restartPolicy: 'Never' as const, restartPolicyRules: rules }, log],
  };
  for (const [exitCode, expected] of [
    [42, 'start container app'],
    [3, 'start container app'],
    [0, nothing],
    [1, nothing],
  ] as const) {
    check(spec, statusOf([ended(app, exitCode), { of: log }]), expected);
  }
});

test('restarting all containers removes them, the trigger last, and then starts the init containers', () => {
  const cause: Container = {
    ...app,
    restartPolicy: 'Never',
    restartPolicyRules: [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [88] } }],
  };
  const spec = { initContainers: [prepare, proxy], containers: [cause, log] };
  const seen = [{ of: log }, ended(app, 88), { of: proxy }, ended(prepare, 0), ended(app, 1, { id: 'app-0' })];
  const reset = 'remove app, kill and remove log, remove prepare, kill and remove proxy, remove app';
  check(spec, statusOf(seen), reset, { restartAll: true });
  check(spec, statusOf([]), 'start init container prepare');
});

test('an ephemeral container is started once, even before the pod is initialized, and does not keep a pod alive', () => {
  const shell = { name: 'shell', image: 'busybox', targetContainerName: 'app' };
  const spec = { ephemeralContainers: [shell] };
  check(spec, statusOf([{ of: app }]), 'start ephemeral container shell');
  check(spec, statusOf([{ of: app }, { of: shell }]), nothing);
  check(spec, statusOf([{ of: app }, ended(shell, 1)]), nothing);
  check(spec, statusOf([{ of: app }]), nothing, { ended: 'shell' });
  check({ ...spec, initContainers: [prepare] }, statusOf([{ of: prepare }]), 'start ephemeral container shell');
  check({ ...spec, restartPolicy: 'Never' }, statusOf([ended(app, 0), { of: shell }]), 'kill the pod');
  check(spec, statusOf([], 'none'), 'kill the pod, create sandbox attempt 0, start container app');
});

test('the kill message names the kind of container, and whether it is restarted', () => {
  const probed = (of: Container): Container => ({ ...of, livenessProbe: probe });
  const messages = (spec: Partial<PodSpec>, seen: Seen[]) => {
    const probes = { liveness: () => 'failure' as const, startup: () => undefined };
    return computePodActions({ pod: podOf(spec), status: statusOf(seen), probes }).containersToKill.map(
      ({ message }) => message,
    );
  };
  const sidecar = { initContainers: [probed(proxy)], containers: [probed(app)] };
  assert.deepEqual(messages(sidecar, [{ of: app }, { of: proxy }]), [
    'Init container proxy failed liveness probe',
    'Container app failed liveness probe, will be restarted',
  ]);
  assert.deepEqual(
    messages({ initContainers: [proxy] }, [
      { of: app, state: 'unknown' },
      { of: proxy, state: 'unknown' },
    ]),
    [
      'Init container is in "unknown" state, try killing it before restart',
      'Container is in "unknown" state, try killing it before restart',
    ],
  );
});

function deepFreeze<T>(value: T): T {
  for (const part of Object.values(value as object)) if (typeof part === 'object' && part !== null) deepFreeze(part);
  return Object.freeze(value);
}

test('equal input yields equal plans and is not modified', () => {
  const probed = { ...app, livenessProbe: probe };
  const killed = { liveness: () => 'failure' as const, startup: () => undefined };
  const inputs = [
    { pod: podOf({ initContainers: [proxy] }), status: statusOf([{ of: proxy }]) },
    { pod: podOf({ containers: [probed, log] }), status: statusOf([{ of: probed }, { of: log, state: 'exited' }]) },
    { pod: podOf({ initContainers: [prepare, migrate] }), status: statusOf([{ of: prepare, state: 'exited' }]) },
    { pod: podOf({}), status: statusOf([{ of: app, state: 'unknown' }], { ready: false }) },
    { pod: podOf({}), status: statusOf([], 'none') },
  ];
  for (const input of inputs) {
    const frozen = deepFreeze({ ...input, probes: killed });
    assert.deepEqual(computePodActions(frozen), computePodActions(frozen));
  }
});
