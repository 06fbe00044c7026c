import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { PodwrightError, silentLogger, waitFor } from '@podwright/base';
import type { Pod, PodSpec } from '@podwright/kube-api';
import type { PodVolumes } from '@podwright/volumes';
import { VolumeFailure } from '../../../volumes/src/volumes/volume-failure.ts';
import type { PodCgroups } from '../cgroups/pod-cgroups.ts';
import { podIdentity } from '../kubecontainer/pod-identity.ts';
import type { WaitingReason } from '../kubecontainer/sync-result.ts';
import { fakeDependencies, fakeRuntime } from '../kuberuntime/dependencies.fixture.ts';
import { podLogDirectory } from '../kuberuntime/pod-sandbox-config.ts';
import { RuntimePodReader } from '../kuberuntime/runtime-pod-reader.ts';
import { Pleg } from '../pleg/pleg.ts';
import { PodStatusCache } from '../pleg/pod-status-cache.ts';
import type { PodProbes } from '../prober/pod-probes.ts';
import { ProbeResults } from '../prober/probe-results.ts';
import { StatusManager } from '../status/status-manager.ts';
import { PodAllocations } from './pod-allocations.ts';
import type { GrantAnswer } from './pod-grants.ts';
import { PodSyncer } from './pod-syncer.ts';
import { RestartRequests } from './restart-requests.ts';
import { WaitingReasons } from './waiting-reasons.ts';

const logs = mkdtempSync(join(tmpdir(), 'podwright-syncer-'));
after(() => rmSync(logs, { recursive: true }));

function podOf(spec: Partial<PodSpec> = {}, name = 'web'): Pod {
  const containers = [{ name: 'app', image: 'busybox:1' }];
  const metadata = { name, namespace: 'default', uid: 'u1' };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers, restartPolicy: 'Always', ...spec } };
}

/** A syncer on an in-memory runtime. `done` records the calls to volumes, cgroups, probes and grants; those listed in `failing` fail. */
async function start(context: TestContext, refusal?: WaitingReason) {
  const runtime = fakeRuntime();
  const deps = fakeDependencies(runtime, logs);
  const { cri, networks, kubeletId } = deps;
  const reader = new RuntimePodReader({ cri, networks, kubeletId, runtimeName: 'fake' });
  const period = { relistPeriodMs: 60_000, eventedRelistPeriodMs: 60_000 };
  const pleg = new Pleg({
    cri,
    reader,
    cache: new PodStatusCache(),
    logger: silentLogger,
    onChange: () => undefined,
    onListing: () => undefined,
    ...period,
  });
  await pleg.start();
  context.after(() => pleg.stop());
  const done: string[] = [];
  const refused: WaitingReason[] = [];
  const answers: GrantAnswer[] = [];
  const failing = new Set<string>();
  const step = (name: string) => async () => {
    done.push(name);
    if (failing.has(name)) throw new PodwrightError('failed_precondition', `${name} fails`);
  };
  const mounted = { paths: new Map<string, string>(), failures: [] as VolumeFailure[], complete: true };
  const volumes = {
    mountForPod: async () => {
      done.push('mount');
      return mounted;
    },
    unmountForPod: step('unmount'),
    removeForPod: step('remove volumes'),
  };
  const cgroups = { ensure: step('make cgroup'), remove: step('remove cgroup') };
  const results = { liveness: new ProbeResults(), readiness: new ProbeResults(), startup: new ProbeResults() };
  const log = (name: string) => () => void done.push(name);
  const probes = {
    ...results,
    update: () => undefined,
    stopLiveness: log('stop liveness'),
    remove: log('stop probes'),
  };
  const statuses = new StatusManager();
  const syncer = new PodSyncer({
    runtime: deps,
    pleg,
    statuses,
    reasons: new WaitingReasons(),
    volumes: volumes as unknown as PodVolumes,
    probes: probes as unknown as PodProbes,
    restarts: new RestartRequests(),
    allocations: new PodAllocations({
      events: deps.events,
      actuated: deps.actuated,
      node: { cpu: 2000n, memory: 1n << 30n },
      enforcement: deps.node,
      activePods: () => [],
    }),
    cgroups: cgroups as unknown as PodCgroups,
    obstacles: { runtimeErrors: () => [], networkError: () => undefined },
    logger: silentLogger,
    refusal: () => refusal ?? refused[0],
    refuse: (_, why) => void refused.push(why),
    recursiveReadOnly: () => false,
    grants: {
      admit: async () => answers[0],
      prepare: async () => undefined,
      unprepare: async () => undefined,
      healthOf: () => [],
      release: step('release'),
    },
  });
  const sync = (pod: Pod, signal = AbortSignal.timeout(5000)) => syncer.sync(pod, signal);
  const terminate = (pod: Pod) => syncer.terminate(pod, { remove: false }, AbortSignal.timeout(5000));
  const exit = async (exitCode: number) => {
    runtime.exitContainer(runtime.containerNamed('app').id, { exitCode });
    await pleg.updateCache(podIdentity(podOf()));
  };
  return { runtime, syncer, statuses, done, failing, answers, deps, sync, terminate, exit, mounted, pleg, results };
}

test('a synced pod has its cgroup, volumes and containers, and a second sync changes nothing', async (context) => {
  const { sync, statuses, done, runtime } = await start(context);
  assert.deepEqual(await sync(podOf()), { ended: false, failed: false, retryAtMs: undefined });
  assert.deepEqual(done.sort(), ['make cgroup', 'mount']);
  assert.equal(statuses.get('u1')?.phase, 'Running');
  const calls = runtime.calls.length;
  assert.deepEqual(await sync(podOf()), { ended: false, failed: false, retryAtMs: undefined });
  assert.equal(runtime.calls.length, calls);
});

test('no sandbox is created before the volumes are mounted', async (context) => {
  const { sync, mounted, runtime, deps } = await start(context);
  mounted.failures.push(new VolumeFailure('a is away'), new VolumeFailure('b is away'));
  mounted.complete = false;
  const pod = podOf();
  await assert.rejects(sync(pod), { message: 'mount volumes of pod default/web: a is away; b is away' });
  assert.deepEqual(runtime.sandboxes, []);
  assert.deepEqual(
    deps.events.list().map(({ reason, message }) => [reason, message]),
    [
      ['FailedMount', 'a is away'],
      ['FailedMount', 'b is away'],
    ],
  );
});

test('a pod whose mounted volumes cannot be updated continues with their old content', async (context) => {
  const { sync, mounted, exit, statuses, deps } = await start(context);
  const pod = podOf();
  await sync(pod);
  mounted.failures.push(new VolumeFailure('settings are away'));
  await exit(1);
  assert.deepEqual(await sync(pod), { ended: false, failed: true, retryAtMs: undefined });
  assert.equal(statuses.get('u1')!.containerStatuses![0]!.restartCount, 1);
  assert.ok(deps.events.list().some(({ reason }) => reason === 'FailedMount'));
});

test('a failure to create the cgroup is not reported as a volume failure', async (context) => {
  const { sync, failing, deps } = await start(context);
  failing.add('make cgroup');
  await assert.rejects(sync(podOf()), { message: 'make cgroup fails' });
  assert.deepEqual(
    deps.events.list().map(({ reason, message }) => `${reason}: ${message}`),
    ['FailedCreatePodContainer: unable to ensure pod container exists: make cgroup fails'],
  );
});

test('all failures while stopping a pod are reported in one event', async (context) => {
  const { sync, terminate, runtime, deps } = await start(context);
  const containers = ['app', 'log'].map((name) => ({ name, image: 'busybox:1' }));
  await sync(podOf({ containers }));
  runtime.inject('stopContainer', { error: new PodwrightError('unknown', 'stuck') });
  await assert.rejects(terminate(podOf({ containers })));
  const failed = (name: string) =>
    `failed to "KillContainer" for "${name}" with KillContainerError: "rpc error: code = Unknown desc = stuck"`;
  assert.deepEqual(
    deps.events.list().flatMap(({ reason, message }) => (reason === 'FailedKillPod' ? [message] : [])),
    [`error killing pod: [${failed('log')}, ${failed('app')}]`],
  );
});

test('a failure to read the status emits an event, unless the runtime is unavailable', async (context) => {
  const { sync, terminate, runtime, deps } = await start(context);
  await sync(podOf());
  runtime.inject('stopContainer', { error: new PodwrightError('unknown', 'stuck'), times: 1 });
  await assert.rejects(terminate(podOf()));
  const check = async (code: 'unknown' | 'unavailable', expected: string[]) => {
    runtime.inject('listPodSandbox', { error: new PodwrightError(code, 'no idea'), times: 1 });
    await assert.rejects(terminate(podOf()));
    const failures = deps.events.list().filter(({ reason }) => reason === 'FailedSync');
    assert.deepEqual(
      failures.map(({ message }) => message),
      expected,
    );
  };
  await check('unavailable', []);
  await check('unknown', ['error determining status: rpc error: code = Unknown desc = no idea']);
});

test('a ready sandbox is published before its containers are created', async (context) => {
  const { sync, runtime, statuses } = await start(context);
  runtime.inject('createContainer', { delayMs: 60_000 });
  const stop = new AbortController();
  const condition = () =>
    statuses.get('u1')?.conditions?.find(({ type }) => type === 'PodReadyToStartContainers')?.status;
  const syncing = sync(podOf(), stop.signal);
  await waitFor(() => condition() === 'True' || undefined, { intervalMs: 1, signal: AbortSignal.timeout(3000) });
  assert.deepEqual(runtime.containers, []);
  stop.abort(new Error('seen'));
  await assert.rejects(syncing, { message: 'seen' });
});

test('a RestartAllContainers rule restarts all containers of a pod', async (context) => {
  const rules = [{ action: 'RestartAllContainers' as const, exitCodes: { operator: 'In' as const, values: [88] } }];
  const { sync, runtime, statuses, exit } = await start(context);
  const pod = podOf({
    restartPolicy: 'Never',
    containers: [{ name: 'app', image: 'busybox:1', restartPolicy: 'Never', restartPolicyRules: rules }],
  });
  const condition = () => statuses.get('u1')?.conditions?.find(({ type }) => type === 'AllContainersRestarting');
  await sync(pod);
  await exit(88);
  const { ended, retryAtMs } = await sync(pod);
  assert.equal(ended, false);
  assert.ok(retryAtMs! <= Date.now());
  assert.deepEqual(runtime.containers, []);
  assert.equal(statuses.get('u1')!.containerStatuses![0]!.lastState.terminated!.reason, 'RestartingAllContainers');
  await sync(pod);
  const { phase, containerStatuses } = statuses.get('u1')!;
  assert.equal(phase, 'Running');
  assert.ok(containerStatuses![0]!.state.running);
  assert.equal(condition()!.status, 'False');
  await exit(1);
  assert.deepEqual(await sync(pod), { ended: true });
  assert.equal(statuses.get('u1')!.phase, 'Failed');
});

test('a failed step is retried at its retry time if it has one, otherwise after the worker’s back-off', async (context) => {
  const { sync, runtime, exit } = await start(context);
  runtime.inject('runPodSandbox', { error: new PodwrightError('unavailable', 'away'), times: 1 });
  assert.equal((await sync(podOf())).failed, true);
  for (let crash = 0; crash < 2; crash++) {
    await sync(podOf());
    await exit(1);
  }
  const { failed, retryAtMs } = await sync(podOf());
  assert.equal(failed, false);
  assert.ok(retryAtMs! > Date.now());
});

test('a pod waits for a device plugin, and fails if its device allocation is rejected', async (context) => {
  const { sync, statuses, answers, deps, done } = await start(context);
  answers.push({ kind: 'waits', message: 'no device plugin offers e.com/w now' });
  const { ended, retryAtMs } = await sync(podOf());
  assert.ok(!ended && retryAtMs !== undefined);
  const [waits] = deps.events.list();
  const why = { reason: 'WaitingForDevices', message: 'no device plugin offers e.com/w now' };
  assert.deepEqual([waits?.reason, waits?.message], [why.reason, why.message]);
  assert.deepEqual(statuses.pod('u1')?.status, { phase: 'Pending', ...why, qosClass: 'BestEffort' });
  const { resourceVersion } = statuses.pod('u1')!.metadata;
  await sync(podOf());
  assert.equal(
    statuses.pod('u1')!.metadata.resourceVersion,
    resourceVersion,
    'an unchanged status is not published again',
  );
  const count = () => deps.events.list().reduce((sum, event) => sum + (event.count ?? 1), 0);
  assert.equal(count(), 1, 'one event per message');
  answers[0] = { kind: 'waits', message: 'no device plugin offers e.com/v now' };
  await sync(podOf());
  assert.equal(count(), 2);
  answers[0] = { kind: 'refused', refusal: { reason: 'UnexpectedAdmissionError', message: 'Allocate failed' } };
  assert.deepEqual(await sync(podOf()), { ended: true });
  const { phase, reason, message } = statuses.get('u1')!;
  assert.deepEqual(
    { phase, reason, message },
    {
      phase: 'Failed',
      reason: 'UnexpectedAdmissionError',
      message: 'Pod was rejected: Allocate failed',
    },
  );
  answers.length = 0;
  assert.deepEqual(await sync(podOf()), { ended: true });
  assert.deepEqual(done, []);
});

test('a pod ends when it is rejected, exceeds its active deadline, or all its containers have completed', async (context) => {
  const refused = await start(context, { reason: 'NodePorts', message: 'taken' });
  assert.deepEqual(await refused.sync(podOf()), { ended: true });
  const { startTime: _, ...status } = refused.statuses.get('u1')!;
  const message = 'Pod was rejected: taken';
  assert.deepEqual(status, { phase: 'Failed', reason: 'NodePorts', message, qosClass: 'BestEffort' });
  const late = await start(context);
  const limited = podOf({ activeDeadlineSeconds: 0 });
  await late.sync(podOf());
  assert.equal((await late.sync(limited)).verdict?.reason, 'DeadlineExceeded');
  const once = await start(context);
  const job = podOf({ restartPolicy: 'Never' });
  await once.sync(job);
  await once.exit(0);
  assert.deepEqual(await once.sync(job), { ended: true });
  assert.equal(once.statuses.get('u1')?.phase, 'Succeeded');
});

test('termination stops all containers, and fails if one does not stop', async (context) => {
  const { sync, terminate, runtime, done } = await start(context);
  await sync(podOf());
  runtime.inject('stopContainer', { error: new PodwrightError('unavailable', 'away'), times: 1 });
  await assert.rejects(
    terminate(podOf()),
    /^PodwrightError: stop pod default\/web: failed to "KillContainer" for "app" /,
  );
  await terminate(podOf());
  assert.ok(runtime.containers.every(({ finishedAt }) => finishedAt > 0n));
  assert.ok(done.includes('stop liveness'));
});

test('finish releases the resources of a pod, and can be retried after a failure', async (context) => {
  const { sync, syncer, terminate, failing, done, statuses } = await start(context);
  await sync(podOf({ restartPolicy: 'Never' }));
  await terminate(podOf({ restartPolicy: 'Never' }));
  done.length = 0;
  failing.add('unmount');
  const finish = () => syncer.finish(podOf({ restartPolicy: 'Never' }), { remove: false });
  await assert.rejects(finish(), { message: 'unmount fails' });
  failing.clear();
  await finish();
  assert.deepEqual(done, ['stop probes', 'unmount', 'stop probes', 'unmount', 'remove cgroup', 'release']);
  assert.equal(statuses.get('u1')?.phase, 'Failed');
});

test('a pod is removed completely, volumes before the sandbox', async (context) => {
  const { sync, syncer, terminate, failing, runtime, statuses } = await start(context);
  await sync(podOf());
  await terminate(podOf());
  failing.add('remove volumes');
  await assert.rejects(syncer.remove(podOf(), { remove: true }), { message: 'remove volumes fails' });
  assert.equal(runtime.sandboxes.length, 1, 'a restarted kubelet finds the pod by it');
  failing.clear();
  await syncer.remove(podOf(), { remove: true });
  assert.deepEqual([runtime.sandboxes, runtime.containers], [[], []]);
  assert.equal(statuses.get('u1'), undefined);
});

test('a pod that is removed with keepLogs keeps its log directory', async (context) => {
  const { sync, syncer, terminate } = await start(context);
  await sync(podOf());
  await terminate(podOf());
  const directory = podLogDirectory(logs, podOf().metadata);
  await syncer.remove(podOf(), { remove: true, keepLogs: true });
  assert.ok(existsSync(directory));
  await syncer.remove(podOf(), { remove: true });
  assert.ok(!existsSync(directory));
});

test('a different pod with the same UID is removed from the runtime first', async (context) => {
  const { sync, runtime } = await start(context);
  await sync(podOf({}, 'victim'));
  const { ended, retryAtMs } = await sync(podOf({}, 'thief'));
  assert.equal(ended, false);
  assert.ok(retryAtMs! <= Date.now());
  assert.deepEqual([runtime.sandboxes, runtime.containers], [[], []]);
});
