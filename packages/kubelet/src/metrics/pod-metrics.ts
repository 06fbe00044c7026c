/** Pod counters and histograms, with upstream's names and help texts. */
import { Counter, Gauge, Histogram, type Registry } from '@podwright/base';
import type { StartMetrics } from './pod-start-times.ts';

/** The default buckets of the Prometheus client libraries, in seconds. */
const DEFAULT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Upstream's podStartupDurationBuckets, in seconds. */
const START_BUCKETS = [
  0.5, 1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 45, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600,
];
/** Upstream's podResizeDurationBuckets, in milliseconds. */
const RESIZE_BUCKETS = [10, 50, 100, 500, 1000, 2000, 5000, 10_000, 20_000, 30_000, 60_000, 120_000, 300_000, 600_000];

function makersIn(registry: Registry) {
  const named = (name: string, help: string) => ({ name: `kubelet_${name}`, help, registers: [registry] });
  return {
    gauge: (name: string, help: string) => new Gauge(named(name, help)),
    counter: <L extends string = never>(name: string, help: string, ...labelNames: L[]) =>
      new Counter<L>({ ...named(name, help), labelNames }),
    histogram:
      (buckets: number[]) =>
      <L extends string = never>(name: string, help: string, ...labelNames: L[]) =>
        new Histogram<L>({ ...named(name, help), labelNames, buckets }),
  };
}

export function startMetrics(registry: Registry): StartMetrics {
  const { gauge, histogram } = makersIn(registry);
  const times = histogram(START_BUCKETS);
  const measured = 'measured from pod creation timestamp to when all its containers are reported as started';
  return {
    start: times(
      'pod_start_duration_seconds',
      'Duration in seconds from kubelet seeing a pod for the first time to the pod starting to run',
    ),
    sli: times(
      'pod_start_sli_duration_seconds',
      `Duration in seconds to start a pod, excluding time to pull images and run init containers, ${measured}`,
    ),
    total: times(
      'pod_start_total_duration_seconds',
      `Duration in seconds to start a pod since creation, including time to pull images and run init containers, ${measured}`,
    ),
    firstNetwork: gauge(
      'first_network_pod_start_sli_duration_seconds',
      `Duration in seconds to start the first network pod, excluding time to pull images and run init containers, ${measured}`,
    ),
  };
}

/** Registers the metrics of pod workers, sandboxes and cleanups. */
export function syncMetrics(registry: Registry) {
  const { counter, gauge, histogram } = makersIn(registry);
  const seconds = histogram(DEFAULT_BUCKETS);
  return {
    workerSeconds: seconds(
      'pod_worker_duration_seconds',
      'Duration in seconds to sync a single pod. Broken down by operation type: create, update, or sync',
      'operation_type',
    ),
    workerStartSeconds: seconds(
      'pod_worker_start_duration_seconds',
      'Duration in seconds from kubelet seeing a pod to starting a worker.',
    ),
    sandboxSeconds: seconds(
      'run_podsandbox_duration_seconds',
      'Duration in seconds of the run_podsandbox operations. Broken down by RuntimeClass.Handler.',
      'runtime_handler',
    ),
    sandboxErrors: counter(
      'run_podsandbox_errors_total',
      'Cumulative number of the run_podsandbox operation errors by RuntimeClass.Handler.',
      'runtime_handler',
    ),
    swept: gauge(
      'orphan_pod_cleaned_volumes',
      'The total number of orphaned Pods whose volumes were cleaned in the last periodic sweep.',
    ),
    sweepFailures: gauge(
      'orphan_pod_cleaned_volumes_errors',
      'The number of orphaned Pods whose volumes failed to be cleaned in the last periodic sweep.',
    ),
  };
}

export function containerMetrics(registry: Registry) {
  const { counter, histogram } = makersIn(registry);
  return {
    startedContainers: counter('started_containers_total', 'Cumulative number of containers started', 'container_type'),
    startedContainerErrors: counter(
      'started_containers_errors_total',
      'Cumulative number of errors when starting containers',
      'container_type',
      'code',
    ),
    containersPerPod: histogram([1, 2, 4, 8, 16])('containers_per_pod_count', 'The number of containers per pod.'),
    imageVolumes: counter('image_volume_requested_total', 'Number of requested image volumes.'),
    imageVolumeMounts: counter('image_volume_mounted_succeed_total', 'Number of successful image volume mounts.'),
    imageVolumeErrors: counter('image_volume_mounted_errors_total', 'Number of failed image volume mounts.'),
  };
}

export function podCounters(registry: Registry) {
  const { counter, histogram } = makersIn(registry);
  const comebacks = counter(
    'restarted_pods_total',
    'Number of pods that have been restarted because they were deleted and recreated with the same UID while the kubelet was watching them (common for static pods, extremely uncommon for API pods)',
    'static',
  );
  for (const from of ['', 'true']) comebacks.inc({ static: from }, 0);
  return {
    comebacks,
    startedPods: counter('started_pods_total', 'Cumulative number of pods started'),
    startedPodErrors: counter('started_pods_errors_total', 'Cumulative number of errors when starting pods'),
    startedUserNamespaced: counter(
      'started_user_namespaced_pods_total',
      'Cumulative number of pods with user namespaces started. This metric will only be collected on Linux.',
    ),
    startedUserNamespacedErrors: counter(
      'started_user_namespaced_pods_errors_total',
      'Cumulative number of errors when starting pods with user namespaces. This metric will only be collected on Linux.',
    ),
    evictions: counter('evictions', 'Cumulative number of pod evictions by eviction signal', 'eviction_signal'),
    evictionStatsAge: histogram(DEFAULT_BUCKETS)(
      'eviction_stats_age_seconds',
      'Time between when stats are collected, and when pod is evicted based on those stats by eviction signal',
      'eviction_signal',
    ),
    preemptions: counter(
      'preemptions',
      'Cumulative number of pod preemptions by preemption resource',
      'preemption_signal',
    ),
    refusals: counter(
      'admission_rejections_total',
      'Cumulative number pod admission rejections by the Kubelet.',
      'reason',
    ),
    orphans: counter(
      'orphaned_runtime_pods_total',
      'Number of pods that have been detected in the container runtime without being already known to the pod worker. This typically indicates the kubelet was restarted while a pod was force deleted in the API or in the local configuration, which is unusual.',
    ),
  };
}

export function resizeMetrics(registry: Registry) {
  const { counter, histogram } = makersIn(registry);
  return {
    requestedResizes: counter(
      'container_requested_resizes_total',
      "Number of requested resizes, counted at the container level. Different resources on the same container are counted separately. The 'requirement' label refers to 'memory' or 'limits'; the 'operation' label can be one of 'add', 'remove', 'increase' or 'decrease'.",
      'resource',
      'requirement',
      'operation',
    ),
    resizeMs: histogram(RESIZE_BUCKETS)(
      'pod_resize_duration_milliseconds',
      'Duration in milliseconds to actuate a pod resize',
      'success',
    ),
  };
}
