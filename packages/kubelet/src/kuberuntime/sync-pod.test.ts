import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Limiter, PodwrightError, sleep, waitFor } from '@podwright/base';
import { NamespaceMode } from '@podwright/cri';
import type { FakeRuntime } from '@podwright/cri/testing';
import type { Container, Pod, PodSpec } from '@podwright/kube-api';
import { podIdentity } from '../kubecontainer/pod-identity.ts';
import type { RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import { hasActed, type StepResult } from '../kubecontainer/sync-result.ts';
import { computePodActions } from './compute-pod-actions.ts';
import { type FakeDependencies, fakeDependencies, fakeRuntime } from './dependencies.fixture.ts';
import { containerAnnotations, containerLabels, sandboxLabels } from './labels.ts';
import { podLogDirectory } from './pod-sandbox-config.ts';
import { RuntimePodReader } from './runtime-pod-reader.ts';
import { SANDBOX_PATIENCE_MS, SandboxTurns } from './sandbox-turns.ts';
import { MIN_TRACED_TURN_MS, syncPod } from './sync-pod.ts';

const logs = mkdtempSync(join(tmpdir(), 'podwright-sync-'));
after(() => rmSync(logs, { recursive: true }));

const app: Container = { name: 'app', image: 'busybox:1' };
const prepare: Container = { name: 'prepare', image: 'busybox:1' };
const proxy: Container = { name: 'proxy', image: 'busybox:1', restartPolicy: 'Always' };
const away = new PodwrightError('unavailable', 'the runtime is away');

function podOf(spec: Partial<PodSpec> = {}, uid = 'u1'): Pod {
  const metadata = { name: 'web', namespace: 'default', uid };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [app], restartPolicy: 'Always', ...spec } };
}

class SyncedPod {
  readonly runtime: FakeRuntime = fakeRuntime();
  /** How many containers existed at each `onSandboxReady` call. */
  readonly sandboxesReady: number[] = [];
  restartRequested = false;
  unhealthy = false;
  restartAllContainers = false;
  readonly deps: FakeDependencies = fakeDependencies(this.runtime, logs);
  readonly #reader = new RuntimePodReader({
    cri: this.runtime.client,
    networks: this.deps.networks,
    kubeletId: this.deps.kubeletId,
    runtimeName: 'fake',
  });

  status(pod: Pod): Promise<RuntimePodStatus> {
    return this.#reader.podStatus(podIdentity(pod));
  }

  async sync(pod: Pod, signal: AbortSignal = AbortSignal.timeout(5000)): Promise<StepResult[]> {
    const status = await this.status(pod);
    const liveness = () => (this.unhealthy ? ('failure' as const) : undefined);
    const probes = { liveness, startup: () => undefined };
    const { restartAllContainers } = this;
    const restartRequested = () => this.restartRequested;
    const plan = computePodActions({ pod, status, probes, restartRequested, restartAllContainers });
    const onSandboxReady = () => void this.sandboxesReady.push(this.runtime.containers.length);
    return syncPod(this.deps, { pod, status, plan, onSandboxReady }, signal);
  }

  running(): (string | undefined)[] {
    return this.runtime.containers.filter(({ state }) => state === 1).map(({ config }) => config.metadata?.name);
  }
}

/** Formats steps as `action target: reason`, without sandbox IDs. */
const shown = (steps: StepResult[]) =>
  steps.map(({ action, target, error }) => {
    const name = /PodSandbox$/.test(action) ? '' : ` ${target}`;
    return `${action}${name}${error === undefined ? '' : `: ${error.reason}`}`;
  });

test('a new pod gets its sandbox, its sidecars and init containers, and then its containers', async () => {
  const synced = new SyncedPod();
  const pod = podOf({ initContainers: [proxy, prepare] });
  assert.deepEqual(shown(await synced.sync(pod)), ['CreatePodSandbox', 'StartInitContainer proxy']);
  assert.deepEqual(shown(await synced.sync(pod)), ['StartInitContainer prepare']);
  synced.runtime.exitContainer(synced.runtime.containerNamed('prepare').id, { exitCode: 0 });
  assert.deepEqual(shown(await synced.sync(pod)), ['StartContainer app']);
  assert.deepEqual(synced.running(), ['proxy', 'app']);
  assert.deepEqual(await synced.sync(pod), []);
});

const warningsOf = ({ deps }: SyncedPod) =>
  deps.events.list().flatMap(({ type, reason, message }) => (type === 'Warning' ? [`${reason} ${message}`] : []));

test('a failure to create the sandbox fails the step, and no container is created', async () => {
  const synced = new SyncedPod();
  synced.runtime.inject('runPodSandbox', { error: away });
  const steps = await synced.sync(podOf());
  assert.deepEqual(shown(steps), ['CreatePodSandbox: CreatePodSandboxError']);
  assert.equal(hasActed(steps), true, 'the runtime may have created it');
  const why = 'rpc error: code = Unavailable desc = the runtime is away';
  assert.deepEqual(warningsOf(synced), [`FailedCreatePodSandBox Failed to create pod sandbox: ${why}`]);
  assert.equal(
    synced.runtime.calls.some(({ method }) => method === 'createContainer'),
    false,
  );
});

test('an unreadable sandbox status is reported in an event', async () => {
  const synced = new SyncedPod();
  const pod = podOf();
  const status = await synced.status(pod);
  synced.runtime.inject('podSandboxStatus', { error: away });
  const probes = { liveness: () => undefined, startup: () => undefined };
  const plan = computePodActions({ pod, status, probes, restartRequested: () => false });
  assert.deepEqual(shown(await syncPod(synced.deps, { pod, status, plan }, AbortSignal.timeout(5000))), [
    'CreatePodSandbox: CreatePodSandboxError',
  ]);
  const why = 'rpc error: code = Unavailable desc = the runtime is away';
  assert.deepEqual(warningsOf(synced), [`FailedStatusPodSandBox Unable to get pod sandbox status: ${why}`]);
});

test('repeated sandbox failures add no crash back-off and send no registry requests', async () => {
  const synced = new SyncedPod();
  const pod = podOf({ containers: [{ ...app, imagePullPolicy: 'Always' }] });
  const old = { labels: containerLabels(pod, app, 'k'), annotations: containerAnnotations(pod, app, 0) };
  const config = { ...old, metadata: { name: 'app', attempt: 0 }, image: { image: 'busybox:1' } };
  const { podSandboxId } = await synced.runtime.client.runtime.runPodSandbox({
    config: { metadata: { ...pod.metadata, attempt: 0 }, labels: sandboxLabels(pod, 'k') },
  });
  await synced.runtime.client.runtime.createContainer({ podSandboxId, config });
  synced.runtime.exitContainer(synced.runtime.containerNamed('app').id, { exitCode: 1 });
  await synced.runtime.client.runtime.stopPodSandbox({ podSandboxId });
  synced.runtime.inject('runPodSandbox', { error: away, times: 3 });
  for (let failure = 0; failure < 3; failure++) {
    assert.deepEqual(shown(await synced.sync(pod)), ['KillPodSandbox', 'CreatePodSandbox: CreatePodSandboxError']);
  }
  assert.equal(synced.runtime.calls.filter(({ method }) => method === 'pullImage').length, 0);
  assert.deepEqual(shown(await synced.sync(pod)), ['KillPodSandbox', 'CreatePodSandbox', 'StartContainer app']);
  assert.equal(synced.runtime.calls.filter(({ method }) => method === 'pullImage').length, 1);
});

test('a container with a failed probe is restarted in the same sync, unless it is in crash back-off', async () => {
  const synced = new SyncedPod();
  const pod = podOf({ containers: [{ ...app, livenessProbe: { exec: { command: ['true'] } } }] });
  await synced.sync(pod);
  synced.unhealthy = true;
  assert.deepEqual(shown(await synced.sync(pod)), ['KillContainer app', 'StartContainer app']);
  assert.deepEqual(shown(await synced.sync(pod)), ['KillContainer app', 'StartContainer app'], 'its first exit');
  assert.deepEqual(shown(await synced.sync(pod)), ['KillContainer app', 'StartContainer app: CrashLoopBackOff']);
});

test('onSandboxReady is called before a container is created', async () => {
  const synced = new SyncedPod();
  await synced.sync(podOf());
  await synced.sync(podOf());
  assert.deepEqual(synced.sandboxesReady, [0]);
});

test('an ephemeral container is started in a running pod, in the PID namespace of its target', async () => {
  const synced = new SyncedPod();
  await synced.sync(podOf());
  const shell = { name: 'shell', image: 'busybox:1', targetContainerName: 'app' };
  const lost = { ...shell, name: 'lost', targetContainerName: 'none' };
  const steps = await synced.sync(podOf({ ephemeralContainers: [shell, lost] }));
  assert.deepEqual(shown(steps), [
    'StartEphemeralContainer shell',
    'StartEphemeralContainer lost: CreateContainerConfigError',
  ]);
  assert.equal(steps[1]!.error!.message, 'unable to find target container none');
  const options = synced.runtime.containerNamed('shell').config.linux?.securityContext?.namespaceOptions;
  assert.equal(options?.pid, NamespaceMode.TARGET);
  assert.equal(options.targetId, synced.runtime.containerNamed('app').id);
});

test('restarting all containers removes them, continues their restart counts, and delays the exited one', async () => {
  const synced = new SyncedPod();
  const rules: Container['restartPolicyRules'] = [
    { action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [88] } },
  ];
  const pod = podOf({
    initContainers: [prepare],
    containers: [
      { ...app, restartPolicy: 'Never', restartPolicyRules: rules },
      { ...app, name: 'log' },
    ],
  });
  const begin = async () => {
    await synced.sync(pod);
    synced.runtime.exitContainer(synced.runtime.containerNamed('prepare').id, { exitCode: 0 });
    return shown(await synced.sync(pod));
  };
  const endAndReset = async () => {
    synced.runtime.exitContainer(synced.runtime.containerNamed('app').id, { exitCode: 88 });
    synced.restartAllContainers = true;
    const steps = shown(await synced.sync(pod));
    synced.restartAllContainers = false;
    return steps;
  };
  assert.deepEqual(await begin(), ['StartContainer app', 'StartContainer log']);
  assert.deepEqual(await endAndReset(), ['RemoveContainer log', 'RemoveContainer prepare', 'RemoveContainer app']);
  assert.deepEqual(synced.runtime.containers, []);
  assert.deepEqual(await begin(), ['StartContainer app', 'StartContainer log']);
  await endAndReset();
  assert.deepEqual(await begin(), ['StartContainer app: CrashLoopBackOff', 'StartContainer log']);
});

test('only the last attempt of a repeatedly failing init container and its log are kept', async () => {
  const synced = new SyncedPod();
  const pod = podOf({ initContainers: [prepare] });
  const directory = join(podLogDirectory(logs, podIdentity(pod)), 'prepare');
  const fail = async () => {
    const steps = shown(await synced.sync(pod));
    synced.deps.crashBackoff.forget(pod, prepare);
    const { id, config } = synced.runtime.containers.at(-1)!;
    await writeFile(join(directory, `${config.metadata!.attempt}.log`), '');
    synced.runtime.exitContainer(id, { exitCode: 1 });
    return steps;
  };
  for (let run = 0; run < 4; run++) await fail();
  const attempts = () => synced.runtime.containers.map(({ config }) => config.metadata?.attempt);
  assert.deepEqual(attempts().sort(), [2, 3]);
  assert.deepEqual((await readdir(directory)).sort(), ['2.log', '3.log']);
  await synced.runtime.client.runtime.stopPodSandbox({ podSandboxId: synced.runtime.sandboxes[0]!.id });
  assert.deepEqual(await fail(), ['KillPodSandbox', 'CreatePodSandbox', 'StartInitContainer prepare']);
  assert.deepEqual(attempts(), [4], 'runs in the previous sandbox do not count');
});

test('a failure to create a container does not block others, unless it is an init container', async () => {
  const synced = new SyncedPod();
  const log: Container = { name: 'log', image: 'busybox:1' };
  await synced.sync(podOf({ containers: [log] }));
  synced.runtime.inject('createContainer', { error: away, times: 1 });
  const two = await synced.sync(podOf({ containers: [app, log, { ...log, name: 'third' }] }));
  assert.deepEqual(shown(two), ['StartContainer app: CreateContainerError', 'StartContainer third']);
  const other = new SyncedPod();
  other.runtime.inject('createContainer', { error: away, times: 1 });
  const init = await other.sync(podOf({ initContainers: [prepare, { ...prepare, name: 'second' }] }));
  assert.deepEqual(shown(init), ['CreatePodSandbox', 'StartInitContainer prepare: CreateContainerError']);
});

test('a container in crash back-off is reported with its retry time, and nothing is changed', async () => {
  const synced = new SyncedPod();
  for (let crash = 0; crash < 2; crash++) {
    await synced.sync(podOf());
    synced.runtime.exitContainer(synced.runtime.containerNamed('app').id, { exitCode: 1 });
  }
  const calls = synced.runtime.calls.length;
  const steps = await synced.sync(podOf());
  assert.deepEqual(shown(steps), ['StartContainer app: CrashLoopBackOff']);
  assert.ok(steps[0]!.retryAtMs! > Date.now());
  assert.equal(hasActed(steps), false);
  assert.ok(synced.runtime.calls.slice(calls).every(({ method }) => /^list|Status$/.test(method)));
});

/** Syncs two pods with crashed containers, whose restarts are limited by `restarts`, while the fake runtime blocks the first restart. */
async function crashedPods(restarts: Limiter, { isHurried = false } = {}) {
  const synced = new SyncedPod();
  synced.deps.restarts = restarts;
  const crashed = ['c1', 'c2'].map((uid) => podOf({}, uid));
  for (const pod of crashed) await synced.sync(pod);
  for (const { id } of synced.runtime.containers) synced.runtime.exitContainer(id, { exitCode: 1 });
  synced.runtime.inject('createContainer', { delayMs: 60_000, times: 1 });
  const before = synced.runtime.calls.length;
  const created = () => synced.runtime.calls.slice(before).filter(({ method }) => method === 'createContainer').length;
  const stop = new AbortController();
  const ends = [synced.sync(crashed[0]!, stop.signal).catch(() => undefined)];
  await waitFor(() => created() === 1 || undefined, { intervalMs: 1, signal: AbortSignal.timeout(3000) });
  if (isHurried) synced.deps.crashBackoff.hurry(crashed[1]!, app);
  ends.push(synced.sync(crashed[1]!, stop.signal).catch(() => undefined));
  const end = () => {
    stop.abort(new Error('the pod ends'));
    return Promise.all(ends);
  };
  return { synced, created, second: ends[1]!, end };
}

test('crashed containers queue for restarts, and new pods do not wait for them', async () => {
  const { synced, created, end } = await crashedPods(new Limiter(1, 60_000));
  assert.deepEqual(shown(await synced.sync(podOf({}, 'new'))), ['CreatePodSandbox', 'StartContainer app']);
  assert.equal(created(), 2); // the first crashed container, and the new pod's
  await end();
  assert.equal(created(), 2);
});

test('a requested restart does not queue behind crashed containers', async () => {
  const { second, end } = await crashedPods(new Limiter(1, 60_000), { isHurried: true });
  assert.deepEqual(shown((await second)!), ['StartContainer app']);
  await end();
});

test('a restart that takes too long does not block others', async () => {
  const { second, end } = await crashedPods(new Limiter(1, 20));
  assert.deepEqual(shown((await second)!), ['StartContainer app']);
  await end();
});

/** Counts the sandbox creations that have been queued. */
class CountedTurns extends SandboxTurns {
  requested = 0;

  override run(...call: Parameters<SandboxTurns['run']>): Promise<string> {
    this.requested++;
    return super.run(...call);
  }
}

/** Syncs a pod `slow` whose RunPodSandbox call hangs, and a running pod `up`. */
async function slowSandbox(sandboxes: CountedTurns) {
  const synced = new SyncedPod();
  synced.deps.sandboxes = sandboxes;
  await synced.sync(podOf({}, 'up'));
  synced.runtime.inject('runPodSandbox', { delayMs: 60_000, times: 1 });
  const before = synced.runtime.calls.length;
  const sent = () => synced.runtime.calls.slice(before).filter(({ method }) => method === 'runPodSandbox').length;
  const stop = new AbortController();
  const slow = synced.sync(podOf({}, 'slow'), stop.signal).catch(() => undefined);
  await waitFor(() => sent() === 1 || undefined, { intervalMs: 1, signal: AbortSignal.timeout(3000) });
  const queued = () =>
    waitFor(() => sandboxes.requested === 3 || undefined, { intervalMs: 1, signal: AbortSignal.timeout(3000) });
  const end = () => {
    stop.abort(new Error('the pod ends'));
    return slow;
  };
  return { synced, sent, queued, end };
}

test('sandbox creations queue, and the wait is recorded in the pod’s trace', async () => {
  const { synced, sent, queued, end } = await slowSandbox(new CountedTurns(1, () => () => 0));
  const second = synced.sync(podOf({}, 'second'));
  await queued();
  await sleep(2 * MIN_TRACED_TURN_MS);
  assert.equal(sent(), 1);
  await end();
  assert.deepEqual(shown(await second), ['CreatePodSandbox', 'StartContainer app']);
  const turn = synced.deps.tracer.spans('second').find(({ name }) => name === 'turn to run sandbox');
  assert.match(turn?.detail ?? '', /^after \d+ ms$/);
  assert.ok(synced.deps.tracer.spans('up').every(({ name }) => name !== 'turn to run sandbox'));
});

test('no sandbox is created for a pod that is deleted while queued', async () => {
  const { synced, sent, queued, end } = await slowSandbox(new CountedTurns(1, () => () => 0));
  const deleted = new AbortController();
  const second = synced.sync(podOf({}, 'second'), deleted.signal);
  await queued();
  deleted.abort(new Error('deleted'));
  await assert.rejects(second, /deleted/);
  await end();
  assert.equal(sent(), 1);
});

test('containers in an existing sandbox and pods on the host network do not queue', async () => {
  const { synced, end } = await slowSandbox(new CountedTurns(1, () => () => 0));
  const more = podOf({ containers: [app, { name: 'second', image: 'busybox:1' }] }, 'up');
  assert.deepEqual(shown(await synced.sync(more)), ['StartContainer second']);
  const ofHost = podOf({ hostNetwork: true }, 'host');
  assert.deepEqual(shown(await synced.sync(ofHost, AbortSignal.timeout(SANDBOX_PATIENCE_MS / 2))), [
    'CreatePodSandbox',
    'StartContainer app',
  ]);
  await end();
});

test('repeated restart requests for a container are not delayed', async () => {
  const synced = new SyncedPod();
  await synced.sync(podOf());
  synced.restartRequested = true;
  for (let request = 0; request < 4; request++) {
    assert.deepEqual(shown(await synced.sync(podOf())), ['KillContainer app', 'StartContainer app']);
  }
  const reasons = synced.deps.events.list().map(({ message }) => message);
  assert.ok(reasons.includes('Restart of container app was requested, will be restarted'), reasons.join('\n'));
});

test('a container with an unavailable image waits, and the runtime is not changed', async () => {
  const synced = new SyncedPod();
  await synced.sync(podOf());
  const steps = await synced.sync(
    podOf({ containers: [app, { name: 'b', image: 'other:1', imagePullPolicy: 'Never' }] }),
  );
  assert.deepEqual(shown(steps), ['StartContainer b: ErrImageNeverPull']);
  assert.equal(hasActed(steps), false);
});

test('a sandbox that is no longer ready is stopped and re-created', async () => {
  const synced = new SyncedPod();
  await synced.sync(podOf());
  await synced.runtime.client.runtime.stopPodSandbox({ podSandboxId: synced.runtime.sandboxes[0]!.id });
  assert.deepEqual(shown(await synced.sync(podOf())), ['KillPodSandbox', 'CreatePodSandbox', 'StartContainer app']);
});

test('a changed container that does not stop fails the step, and its successor is not created', async () => {
  const synced = new SyncedPod();
  await synced.sync(podOf());
  synced.runtime.inject('stopContainer', { error: away });
  const steps = await synced.sync(podOf({ containers: [{ ...app, image: 'busybox:2' }] }));
  assert.deepEqual(shown(steps), ['KillContainer app: KillContainerError']);
});

test('an aborted sync rejects with the reason', async () => {
  const synced = new SyncedPod();
  synced.runtime.inject('runPodSandbox', { delayMs: 60_000 });
  const stop = new AbortController();
  const syncing = synced.sync(podOf(), stop.signal);
  setImmediate(() => stop.abort(new Error('the pod ends')));
  await assert.rejects(syncing, { message: 'the pod ends' });
});
