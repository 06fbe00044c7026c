import assert from 'node:assert/strict';
import { test } from 'node:test';
import { metricsText, Registry } from '@podwright/base';
import type { Container, Pod, PodSpec, PodStatus } from '@podwright/kube-api';
import type { PodSteps, WorkerPhase } from '../pod/pod-workers.ts';
import { KubeletMetrics } from './kubelet-metrics.ts';
import { countPods } from './pod-counts.ts';
import { requestedResizes } from './requested-resizes.ts';

function podOf(uid: string, given: { spec?: Partial<PodSpec>; status?: PodStatus; source?: string } = {}): Pod {
  const annotations: Record<string, string> =
    given.source === undefined ? {} : { 'kubernetes.io/config.source': given.source };
  const metadata = { name: uid, namespace: 'default', uid, annotations };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [], ...given.spec }, status: given.status };
}

/** Returns kubelet metrics for the given pods; `linesOf` returns the samples whose name begins with `kubelet_<prefix>`. */
function metricsOf(...pods: Pod[]) {
  const registry = new Registry();
  const metrics = new KubeletMetrics(registry, (wanted) => pods.find(({ metadata: { uid } }) => uid === wanted));
  const linesOf = async (prefix: string) => {
    const text = await metricsText(registry, (name) => name.startsWith(`kubelet_${prefix}`));
    return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  };
  return { registry, metrics, linesOf };
}

const took = (name: string, detail?: string) => ({ name, startMs: 0, endMs: 20, ...(detail && { detail }) });

test('resizes through a changed manifest are counted by resource, requirement and operation', () => {
  const check = (before: Container['resources'], after: Container['resources'], expected: string[]) => {
    const podWith = (resources: Container['resources']) =>
      podOf('a', { spec: { containers: [{ name: 'c', image: 'i', resources }] } });
    const found = requestedResizes(podWith(before), podWith(after));
    assert.deepEqual(
      found.map(({ resource, requirement, operation }) => `${resource} ${requirement} ${operation}`),
      expected,
    );
  };
  check({ limits: { cpu: '1' } }, { limits: { cpu: '1000m' } }, []);
  check({ limits: { cpu: '1' } }, { limits: { cpu: '2' } }, ['cpu limits increase']);
  check({ requests: { memory: '2Mi' } }, { requests: { memory: '1Mi' } }, ['memory requests decrease']);
  check({}, { limits: { memory: '1Mi', cpu: '1' } }, ['memory limits add', 'cpu limits add']);
  check({ requests: { cpu: '1' } }, { requests: { cpu: '0' } }, ['cpu requests remove']);
  assert.deepEqual(requestedResizes(podOf('a', { spec: { containers: [{ name: 'c', image: 'i' }] } }), podOf('a')), []);
});

test('each termination of a container is counted once', async () => {
  const { metrics, linesOf } = metricsOf();
  const status = (state: 'running' | 'terminated'): PodStatus => {
    const terminated = { exitCode: 3, reason: 'Error', containerID: '', startedAt: null, finishedAt: null };
    const shown = state === 'running' ? { running: { startedAt: '' } } : { terminated };
    const one = { name: 'c', state: shown, lastState: {}, ready: false, restartCount: 0, image: '', imageID: '' };
    return { phase: 'Running', containerStatuses: [one] } as unknown as PodStatus;
  };
  for (const state of ['running', 'terminated', 'terminated', 'running', 'terminated'] as const)
    metrics.statusPublished('a', podOf('a', { status: status(state) }));
  const name = 'kubelet_terminated_containers_total{container_type="container",exit_code="3",reason="Error"}';
  assert.deepEqual(await linesOf('terminated'), [`${name} 2`]);
});

test('accepted deferred resizes and infeasible resizes are counted, withdrawn ones are not', async () => {
  const { metrics, linesOf } = metricsOf();
  const setCondition = (uid: string, type?: string, reason?: string) => {
    const conditions = type === undefined ? [] : [{ type, status: 'True', reason }];
    metrics.statusPublished(uid, podOf(uid, { status: { phase: 'Running', conditions } as unknown as PodStatus }));
  };
  setCondition('a', 'PodResizePending', 'Deferred');
  setCondition('a', 'PodResizeInProgress');
  setCondition('a');
  setCondition('b', 'PodResizePending', 'Deferred');
  setCondition('b');
  setCondition('c', 'PodResizeInProgress');
  for (const reason of ['Deferred', 'Infeasible', 'Infeasible']) setCondition('d', 'PodResizePending', reason);
  setCondition('d', 'PodResizeInProgress');
  assert.deepEqual(await linesOf('pod_deferred'), [
    'kubelet_pod_deferred_accepted_resizes_total{retry_trigger="periodic_retry"} 1',
  ]);
  assert.deepEqual(await linesOf('pod_infeasible'), [
    'kubelet_pod_infeasible_resizes_total{reason_detail="swap_limitation"} 1',
  ]);
});

test('started containers are counted, and failed starts are counted by reason', async () => {
  const { metrics, linesOf } = metricsOf();
  const waits = (reason: string) => ({ error: { reason, message: '' }, held: true as const });
  metrics.acted(podOf('a', { spec: { hostUsers: false } }), [
    { action: 'CreatePodSandbox', target: 's' },
    { action: 'StartInitContainer', target: 'i' },
    { action: 'StartContainer', target: 'c', ...waits('ErrImagePull') },
    { action: 'StartContainer', target: 'd', ...waits('CrashLoopBackOff') },
    { action: 'KillContainer', target: 'e' },
  ]);
  metrics.acted(podOf('a', { spec: { hostUsers: false } }), [{ action: 'StartContainer', target: 'c' }]);
  metrics.acted(podOf('b', { spec: { hostUsers: false } }), [{ action: 'CreatePodSandbox', target: 's' }]);
  metrics.acted(podOf('c'), [{ action: 'CreatePodSandbox', target: 's', ...waits('no') }]);
  assert.deepEqual(await linesOf('started_containers'), [
    'kubelet_started_containers_total{container_type="init_container"} 1',
    'kubelet_started_containers_total{container_type="container"} 2',
    'kubelet_started_containers_errors_total{container_type="container",code="ErrImagePull"} 1',
  ]);
  assert.deepEqual(await linesOf('started_user'), [
    'kubelet_started_user_namespaced_pods_total 2',
    'kubelet_started_user_namespaced_pods_errors_total 1',
  ]);
});

test('image volumes of created containers are counted, and resize durations are measured', async () => {
  const volumeMounts = ['data', 'tmp', 'data'].map((name) => ({ name, mountPath: '/x' }));
  const volumes = [
    { name: 'data', image: { reference: 'i' } },
    { name: 'tmp', emptyDir: {} },
  ];
  const containers = [{ name: 'c', image: 'i', volumeMounts }];
  const { metrics, linesOf } = metricsOf(podOf('a', { spec: { volumes, containers } }));
  metrics.step('a', took('create c', 'failed: rpc error: ImageVolumeMountFailed: x'));
  metrics.step('a', took('create c'));
  metrics.step('b', took('create c'));
  for (const detail of [undefined, undefined, 'failed: no']) metrics.step('a', took('resize', detail));
  assert.deepEqual(await linesOf('image_volume'), [
    'kubelet_image_volume_requested_total 2',
    'kubelet_image_volume_mounted_succeed_total 2',
    'kubelet_image_volume_mounted_errors_total 2',
  ]);
  const resizes = await linesOf('pod_resize');
  assert.ok(resizes.includes('kubelet_pod_resize_duration_milliseconds_bucket{le="50",success="true"} 2'));
  assert.ok(resizes.includes('kubelet_pod_resize_duration_milliseconds_count{success="false"} 1'));
});

test("admission rejections are counted with upstream's reasons; restarted, preempted and orphaned pods are counted", async () => {
  const { metrics, linesOf } = metricsOf();
  for (const reason of ['OutOfcpu', 'OutOfexample.com/gpu', 'NodePorts']) metrics.refused(reason);
  const refused = (reason: string) => `kubelet_admission_rejections_total{reason="${reason}"} 1`;
  assert.deepEqual(await linesOf('admission'), ['OutOfcpu', 'OutOfExtendedResources', 'Other'].map(refused));
  metrics.cameBack();
  assert.deepEqual(await linesOf('restarted'), [
    'kubelet_restarted_pods_total{static=""} 0',
    'kubelet_restarted_pods_total{static="true"} 1',
  ]);
  metrics.preempted('memory');
  assert.deepEqual(await linesOf('preemptions'), ['kubelet_preemptions{preemption_signal="memory"} 1']);
  metrics.orphaned();
  assert.deepEqual(await linesOf('orphaned'), ['kubelet_orphaned_runtime_pods_total 1']);
});

test('worker start latency is measured at the first sync of a pod', async () => {
  const { metrics, linesOf } = metricsOf();
  const steps = metrics.timed({ sync: async () => ({ ended: false }) } as unknown as PodSteps);
  metrics.seen(podOf('a'));
  for (let times = 0; times < 2; times++) await steps.sync(podOf('a'), new AbortController().signal);
  assert.ok((await linesOf('pod_worker_start')).includes('kubelet_pod_worker_start_duration_seconds_count 1'));
});

test('the termination of a pod is measured only once', async () => {
  const { metrics, linesOf } = metricsOf();
  const done = async () => undefined;
  const steps = metrics.timed({ terminate: done, finish: done, remove: done } as unknown as PodSteps);
  await steps.terminate(podOf('a'), { remove: true }, new AbortController().signal);
  await steps.finish(podOf('a'), { remove: true });
  await steps.remove(podOf('a'), { remove: true });
  const count = 'kubelet_pod_worker_duration_seconds_count{operation_type="kill"} ';
  assert.deepEqual(
    (await linesOf('pod_worker_duration')).filter((line) => line.startsWith(count)),
    [`${count}1`],
  );
});

test('pods are counted on each scrape', async () => {
  const { registry, linesOf } = metricsOf();
  const conditions = [{ type: 'PodResizePending', status: 'True', reason: 'Deferred' }];
  const status = { phase: 'Running', conditions } as unknown as PodStatus;
  const wanted = podOf('a', { source: 'file', status, spec: { ephemeralContainers: [{ name: 'debug', image: 'i' }] } });
  const worked: [Pod, WorkerPhase][] = [
    [wanted, 'syncing'],
    [podOf('b', { source: 'http' }), 'terminating'],
    [podOf('c'), 'terminating'],
  ];
  countPods(registry, {
    nodeName: 'here',
    cgroupVersion: 2,
    hasMirrors: false,
    runtimePods: () => [],
    desiredPods: () => [wanted],
    activePods: () => [wanted],
    workedPods: () => worked.map(([pod, phase]) => ({ pod, phase })),
    shownPods: () => [wanted],
  });
  const working = await linesOf('working');
  assert.equal(working.length, 15);
  assert.deepEqual(
    working.filter((line) => line.endsWith(' 1')),
    [
      'kubelet_working_pods{lifecycle="sync",config="desired",static="true"} 1',
      'kubelet_working_pods{lifecycle="terminating",config="orphan",static="true"} 1',
      'kubelet_working_pods{lifecycle="terminating",config="runtime_only",static="unknown"} 1',
    ],
  );
  assert.deepEqual(await linesOf('desired'), [
    'kubelet_desired_pods{static=""} 0',
    'kubelet_desired_pods{static="true"} 1',
  ]);
  assert.deepEqual(await linesOf('managed'), ['kubelet_managed_ephemeral_containers 1']);
  assert.deepEqual(await linesOf('pod_pending'), ['kubelet_pod_pending_resizes{reason="deferred"} 1']);
  assert.deepEqual(await linesOf('pod_in_progress'), ['kubelet_pod_in_progress_resizes 0']);
});
