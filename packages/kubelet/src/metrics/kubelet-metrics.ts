import { Counter, Gauge, Histogram, type Registry } from '@podwright/base';
import type { Pod } from '../api/types.ts';
import type { RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import type { PodSteps } from '../pod/pod-workers.ts';
import type { TraceSpan } from '../trace/pod-tracer.ts';
import { PodStartTimes } from './pod-start-times.ts';

/** Client libraries' default buckets, in seconds. */
const DEFAULT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Upstream's podStartupDurationBuckets, in seconds. */
const START_BUCKETS = [
  0.5, 1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 45, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600,
];

/** What is counted when somebody asks. */
export type CountedPods = {
  nodeName: string;
  cgroupVersion: 1 | 2;
  runtimePods: () => RuntimePodStatus[];
  /** Pods of the sources, and those of them that have not ended. */
  desiredPods: () => Pod[];
  activePods: () => Pod[];
};

/** The kubelet's metrics by upstream's names (pkg/kubelet/metrics), made of the steps of pods and of their statuses. */
export class KubeletMetrics {
  readonly #registry: Registry;
  readonly #starts: PodStartTimes;
  readonly #podOf: (uid: string) => Pod | undefined;
  readonly #workerSeconds: Histogram<'operation_type'>;
  readonly #sandboxSeconds: Histogram<'runtime_handler'>;
  readonly #sandboxErrors: Counter<'runtime_handler'>;
  readonly #startedPods: Counter;
  readonly #startedPodErrors: Counter;
  readonly #startedContainers: Counter<'container_type'>;
  readonly #startedContainerErrors: Counter<'container_type' | 'code'>;
  readonly #containersPerPod: Histogram;
  readonly #evictions: Counter<'eviction_signal'>;

  /** `podOf` finds a pod that is synced. */
  constructor(registry: Registry, podOf: (uid: string) => Pod | undefined) {
    this.#registry = registry;
    this.#podOf = podOf;
    this.#starts = new PodStartTimes({
      start: this.#histogram(
        'pod_start_duration_seconds',
        'Duration in seconds from kubelet seeing a pod for the first time to the pod starting to run',
      ),
      sli: this.#histogram(
        'pod_start_sli_duration_seconds',
        'Duration in seconds to start a pod, excluding time to pull images and run init containers, measured from pod creation timestamp to when all its containers are reported as started',
      ),
      total: this.#histogram(
        'pod_start_total_duration_seconds',
        'Duration in seconds to start a pod since creation, including time to pull images and run init containers, measured from pod creation timestamp to when all its containers are reported as started',
      ),
    });
    this.#workerSeconds = new Histogram({
      ...this.#named(
        'pod_worker_duration_seconds',
        'Duration in seconds to sync a single pod. Broken down by operation type: create, update, or sync',
      ),
      labelNames: ['operation_type'],
      buckets: DEFAULT_BUCKETS,
    });
    this.#sandboxSeconds = new Histogram({
      ...this.#named(
        'run_podsandbox_duration_seconds',
        'Duration in seconds of the run_podsandbox operations. Broken down by RuntimeClass.Handler.',
      ),
      labelNames: ['runtime_handler'],
      buckets: DEFAULT_BUCKETS,
    });
    this.#sandboxErrors = new Counter({
      ...this.#named(
        'run_podsandbox_errors_total',
        'Cumulative number of the run_podsandbox operation errors by RuntimeClass.Handler.',
      ),
      labelNames: ['runtime_handler'],
    });
    this.#startedPods = new Counter(this.#named('started_pods_total', 'Cumulative number of pods started'));
    this.#startedPodErrors = new Counter(
      this.#named('started_pods_errors_total', 'Cumulative number of errors when starting pods'),
    );
    this.#startedContainers = new Counter({
      ...this.#named('started_containers_total', 'Cumulative number of containers started'),
      labelNames: ['container_type'],
    });
    this.#startedContainerErrors = new Counter({
      ...this.#named('started_containers_errors_total', 'Cumulative number of errors when starting containers'),
      labelNames: ['container_type', 'code'],
    });
    this.#containersPerPod = new Histogram({
      ...this.#named('containers_per_pod_count', 'The number of containers per pod.'),
      buckets: [1, 2, 4, 8, 16],
    });
    this.#evictions = new Counter({
      ...this.#named('evictions', 'Cumulative number of pod evictions by eviction signal'),
      labelNames: ['eviction_signal'],
    });
  }

  /** Metrics that are counted when somebody asks. */
  count({ nodeName, cgroupVersion, runtimePods, desiredPods, activePods }: CountedPods): void {
    this.#gauge('node_name', "The node's name. The count is always 1.", 'node', () => new Map([[nodeName, 1]]));
    this.#gauge('cgroup_version', 'cgroup version on the hosts.', undefined, () => cgroupVersion);
    this.#gauge('running_pods', 'Number of pods that have a running pod sandbox', undefined, () => {
      return runtimePods().filter(({ sandboxes }) => sandboxes.some(({ ready }) => ready)).length;
    });
    this.#gauge('running_containers', 'Number of containers currently running', 'container_state', () => {
      const states = new Map<string, number>();
      for (const { state } of runtimePods().flatMap(({ containers }) => containers))
        states.set(state, (states.get(state) ?? 0) + 1);
      return states;
    });
    const desired =
      'The number of pods the kubelet is being instructed to run. static is true if the pod is not from the apiserver.';
    this.#gauge('desired_pods', desired, 'static', () => new Map([['true', desiredPods().length]]));
    const active =
      'The number of pods the kubelet considers active and which are being considered when admitting new pods. static is true if the pod is not from the apiserver.';
    this.#gauge('active_pods', active, 'static', () => new Map([['true', activePods().length]]));
  }

  /** A source has the pod, for the first time. */
  seen({ metadata, spec }: Pod): void {
    this.#starts.seen(metadata.uid, Date.now());
    this.#containersPerPod.observe(spec.containers.length);
  }

  /** A step of a pod has ended, or something that takes no time has happened. */
  step(podUid: string, { name, startMs, endMs, detail }: TraceSpan): void {
    const failed = detail?.startsWith('failed: ') === true;
    const [, verb, what = ''] = /^(run|create|start|image) (.+)$/.exec(name) ?? [];
    if (verb === 'run') this.#sandbox(podUid, (endMs - startMs) / 1000, failed);
    if (verb === 'create') this.#startedContainers.inc({ container_type: this.#containerType(podUid, what) });
    if ((verb === 'create' || verb === 'start') && failed)
      this.#startedContainerErrors.inc({ container_type: this.#containerType(podUid, what), code: ERROR_CODES[verb] });
    if (verb === 'image') this.#starts.pulled(podUid, { startMs, endMs });
  }

  /** The pod as its status is told now; `undefined` when it is gone. */
  told(podUid: string, pod: Pod | undefined): void {
    if (pod === undefined) this.#starts.forget(podUid);
    else this.#starts.told(pod, Date.now());
  }

  evicted(signal: string): void {
    this.#evictions.inc({ eviction_signal: signal });
  }

  /** The same steps, measured. */
  timed(steps: PodSteps): PodSteps {
    const measure = async <T>(operation: string, work: () => Promise<T>): Promise<T> => {
      const startedAtMs = performance.now();
      try {
        return await work();
      } finally {
        this.#workerSeconds.observe({ operation_type: operation }, (performance.now() - startedAtMs) / 1000);
      }
    };
    return {
      sync: (pod, signal) => {
        const operation = this.#starts.isFirstSync(pod.metadata.uid) ? 'create' : 'sync';
        return measure(operation, () => steps.sync(pod, signal));
      },
      terminate: (pod, end, signal) => measure('kill', () => steps.terminate(pod, end, signal)),
      finish: (pod, end) => measure('kill', () => steps.finish(pod, end)),
      remove: (pod) => steps.remove(pod),
    };
  }

  #sandbox(podUid: string, seconds: number, failed: boolean): void {
    const labels = { runtime_handler: this.#podOf(podUid)?.spec.runtimeClassName ?? '' };
    this.#starts.begun(podUid);
    this.#startedPods.inc();
    this.#sandboxSeconds.observe(labels, seconds);
    if (!failed) return;
    this.#startedPodErrors.inc();
    this.#sandboxErrors.inc(labels);
  }

  #containerType(podUid: string, name: string): string {
    const spec = this.#podOf(podUid)?.spec;
    const isOneOf = (containers: { name: string }[] | undefined) => containers?.some((one) => one.name === name);
    if (isOneOf(spec?.containers)) return 'container';
    return isOneOf(spec?.initContainers) ? 'init_container' : 'ephemeral_container';
  }

  #named(name: string, help: string) {
    return { name: `kubelet_${name}`, help, registers: [this.#registry] };
  }

  #histogram(name: string, help: string): Histogram {
    return new Histogram({ ...this.#named(name, help), buckets: START_BUCKETS });
  }

  // biome-ignore lint/complexity/useMaxParams: a metric's name, help and label, and where its values come from
  #gauge(name: string, help: string, label: string | undefined, read: () => Map<string, number> | number): void {
    const gauge: Gauge<string> = new Gauge<string>({
      ...this.#named(name, help),
      labelNames: label === undefined ? [] : [label],
      collect: () => {
        const values = read();
        gauge.reset();
        if (typeof values === 'number') return gauge.set(values);
        for (const [value, count] of values) gauge.set({ [label!]: value }, count);
      },
    });
  }
}

/** Upstream's codes of the errors with which containers are not created and not started. */
const ERROR_CODES = { create: 'CreateContainerError', start: 'RunContainerError' } as const;
