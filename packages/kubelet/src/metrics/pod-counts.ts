/** Pod metrics computed on each scrape. */
import { Gauge, type Registry } from '@podwright/base';
import { CONFIG_SOURCE_ANNOTATION, type Pod } from '@podwright/kube-api';
import type { RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import type { WorkerPhase } from '../pod/pod-workers.ts';

/** The pods to count. */
export type CountedPods = {
  nodeName: string;
  cgroupVersion: 1 | 2;
  /** Whether static pods have mirror pods at an API server. */
  hasMirrors: boolean;
  runtimePods: () => RuntimePodStatus[];
  /** Pods from the pod sources; `activePods` are those that have not terminated. */
  desiredPods: () => Pod[];
  activePods: () => Pod[];
  /** Every pod that has a worker. */
  workedPods: () => { pod: Pod; phase: WorkerPhase }[];
  /** Pods as clients see them, with their status. */
  shownPods: () => Pod[];
};

type Samples = { labels: Record<string, string>; count: number }[];

const one = (count: number): Samples => [{ labels: {}, count }];

/** Registers upstream's pod gauges (pkg/kubelet/metrics). */
export function countPods(registry: Registry, pods: CountedPods): void {
  const gauge = gaugesIn(registry);
  gauge('node_name', "The node's name. The count is always 1.", () => [{ labels: { node: pods.nodeName }, count: 1 }]);
  gauge(
    'metrics_provider',
    "Metrics provider used by kubelet to collect container stats. Values can be 'cadvisor' and 'cri'",
    () => [{ labels: { provider: 'cri' }, count: 1 }],
  );
  gauge('cgroup_version', 'cgroup version on the hosts.', () => one(pods.cgroupVersion));
  gauge('running_pods', 'Number of pods that have a running pod sandbox', () => {
    return one(pods.runtimePods().filter(({ sandboxes }) => sandboxes.some(({ ready }) => ready)).length);
  });
  gauge('running_containers', 'Number of containers currently running', () => {
    const states = pods.runtimePods().flatMap(({ containers }) => containers.map(({ state }) => state));
    return tally('container_state', states);
  });
  gauge(
    'desired_pods',
    'The number of pods the kubelet is being instructed to run. static is true if the pod is not from the apiserver.',
    () => bySource(pods.desiredPods()),
  );
  gauge('mirror_pods', 'The number of mirror pods the kubelet will try to create (one per admitted static pod)', () =>
    one(pods.hasMirrors ? pods.desiredPods().filter(isStatic).length : 0),
  );
  gauge(
    'active_pods',
    'The number of pods the kubelet considers active and which are being considered when admitting new pods. static is true if the pod is not from the apiserver.',
    () => bySource(pods.activePods()),
  );
  gauge(
    'working_pods',
    'Number of pods the kubelet is actually running, broken down by lifecycle phase, whether the pod is desired, orphaned, or runtime only (also orphaned), and whether the pod is static. An orphaned pod has been removed from local configuration or force deleted in the API and consumes resources that are not otherwise visible.',
    () => workingPods(pods.workedPods(), new Set(pods.desiredPods().map(({ metadata }) => metadata.uid))),
  );
  gauge('managed_ephemeral_containers', 'Current number of ephemeral containers in pods managed by this kubelet.', () =>
    one(pods.desiredPods().reduce((sum, { spec }) => sum + (spec.ephemeralContainers?.length ?? 0), 0)),
  );
  gauge('pod_pending_resizes', 'Number of pending resizes for pods.', () => {
    return tally('reason', reasonsOf(pods.shownPods(), 'PodResizePending'));
  });
  gauge('pod_in_progress_resizes', 'Number of in-progress resizes for pods.', () => {
    return one(reasonsOf(pods.shownPods(), 'PodResizeInProgress').length);
  });
}

function gaugesIn(registry: Registry) {
  return (name: string, help: string, read: () => Samples): void => {
    const gauge: Gauge<string> = new Gauge<string>({
      name: `kubelet_${name}`,
      help,
      labelNames: LABELS[name] ?? [],
      registers: [registry],
      collect: () => {
        gauge.reset();
        for (const { labels, count } of read()) gauge.set(labels, count);
      },
    });
  };
}

const LABELS: Record<string, string[]> = {
  node_name: ['node'],
  metrics_provider: ['provider'],
  running_containers: ['container_state'],
  desired_pods: ['static'],
  active_pods: ['static'],
  working_pods: ['lifecycle', 'config', 'static'],
  pod_pending_resizes: ['reason'],
};

function tally(label: string, values: string[]): Samples {
  return [...Map.groupBy(values, (value) => value)].map(([value, all]) => ({
    labels: { [label]: value },
    count: all.length,
  }));
}

/** Returns a pod's source; `undefined` if the pod exists only in the container runtime. */
const sourceOf = ({ metadata }: Pod) => metadata.annotations?.[CONFIG_SOURCE_ANNOTATION];
const isStatic = (pod: Pod) => sourceOf(pod) !== 'api';

function bySource(pods: Pod[]): Samples {
  const ofFiles = pods.filter(isStatic).length;
  return [
    { labels: { static: '' }, count: pods.length - ofFiles },
    { labels: { static: 'true' }, count: ofFiles },
  ];
}

const LIFECYCLES: Record<WorkerPhase, string> = {
  waiting: 'sync',
  syncing: 'sync',
  terminating: 'terminating',
  finishing: 'terminated',
  terminated: 'terminated',
  removed: 'terminated',
};

/** Counts the pods for every combination of labels, including combinations without pods. Pure. */
export function workingPods(pods: { pod: Pod; phase: WorkerPhase }[], desired: ReadonlySet<string>): Samples {
  const kinds = [
    { config: 'desired', static: '' },
    { config: 'desired', static: 'true' },
    { config: 'orphan', static: '' },
    { config: 'orphan', static: 'true' },
    { config: 'runtime_only', static: 'unknown' },
  ];
  const kindOf = (pod: Pod) => {
    if (sourceOf(pod) === undefined) return kinds[4];
    return kinds[(desired.has(pod.metadata.uid) ? 0 : 2) + (isStatic(pod) ? 1 : 0)];
  };
  return ['sync', 'terminating', 'terminated'].flatMap((lifecycle) =>
    kinds.map((kind) => {
      const found = pods.filter(({ pod, phase }) => LIFECYCLES[phase] === lifecycle && kindOf(pod) === kind);
      return { labels: { lifecycle, ...kind }, count: found.length };
    }),
  );
}

function reasonsOf(pods: Pod[], type: string): string[] {
  const conditions = pods.flatMap(({ status }) => status?.conditions ?? []);
  return conditions.filter((condition) => condition.type === type).map(({ reason = '' }) => reason.toLowerCase());
}
