import type { Registry } from '@podwright/base';
import { everyContainer, type Pod } from '@podwright/kube-api';
import { failedSteps, type StepResult, type SyncAction } from '../kubecontainer/sync-result.ts';
import type { PodSteps } from '../pod/pod-workers.ts';
import type { PodObserver } from '../pod/sync-loop.ts';
import type { TraceSpan } from '../trace/pod-tracer.ts';
import { containerMetrics, podCounters, resizeMetrics, startMetrics, syncMetrics } from './pod-metrics.ts';
import { PodStartTimes } from './pod-start-times.ts';
import { requestedResizes } from './requested-resizes.ts';
import { StatusMetrics } from './status-metrics.ts';

/**
 * Admission rejection reasons that upstream's metric counts by name. Other `OutOf…` reasons count as OutOfExtendedResources, everything
 * else as Other.
 */
const REFUSALS: ReadonlySet<string> = new Set([
  'AppArmor',
  'Evicted',
  'NodeShutdown',
  'OutOfcpu',
  'OutOfephemeral-storage',
  'OutOfmemory',
  'OutOfpods',
  'PodOSNotSupported',
  'PodOSSelectorNodeLabelDoesNotMatch',
  'SupplementalGroupsPolicyNotSupported',
  'SysctlForbidden',
  'TopologyAffinityError',
  'UnexpectedAdmissionError',
]);

/** The kubelet's metrics under upstream's names (pkg/kubelet/metrics), based on the steps and statuses of pods. */
export class KubeletMetrics implements PodObserver {
  readonly #starts: PodStartTimes;
  readonly #statuses: StatusMetrics;
  readonly #podOf: (uid: string) => Pod | undefined;
  readonly #of: ReturnType<typeof ownMetrics>;

  /** `podOf` looks up a synced pod by its UID. */
  constructor(registry: Registry, podOf: (uid: string) => Pod | undefined) {
    this.#podOf = podOf;
    this.#starts = new PodStartTimes(startMetrics(registry));
    this.#statuses = new StatusMetrics(registry);
    this.#of = ownMetrics(registry);
  }

  seen({ metadata, spec }: Pod): void {
    this.#starts.seen(metadata.uid, Date.now());
    this.#of.containersPerPod.observe(spec.containers.length);
  }

  changed(before: Pod, after: Pod): void {
    for (const change of requestedResizes(before, after)) this.#of.requestedResizes.inc(change);
  }

  refused(reason: string): void {
    const other = reason.startsWith('OutOf') ? 'OutOfExtendedResources' : 'Other';
    this.#of.refusals.inc({ reason: REFUSALS.has(reason) ? reason : other });
  }

  preempted(resource: string): void {
    this.#of.preemptions.inc({ preemption_signal: resource });
  }

  orphaned(): void {
    this.#of.orphans.inc();
  }

  /** Records that a pod was added with the UID of a pod still being removed, and will therefore be recreated. */
  cameBack(): void {
    this.#of.comebacks.inc({ static: 'true' });
  }

  /** Records that the last cleanup of deleted pods found leftovers of `pods` pods and could not remove those of `failures` pods. */
  swept({ pods, failures }: { pods: number; failures: number }): void {
    this.#of.swept.set(pods);
    this.#of.sweepFailures.set(failures);
  }

  evicted(signal: string): void {
    this.#of.evictions.inc({ eviction_signal: signal });
  }

  /** Records the age of the stats that an eviction for this signal was based on. */
  statsAge(signal: string, seconds: number): void {
    this.#of.evictionStatsAge.observe({ eviction_signal: signal }, seconds);
  }

  /** Records a finished step from a pod's trace. */
  step(podUid: string, { name, startMs, endMs, detail }: TraceSpan): void {
    const failed = detail?.startsWith('failed: ') === true;
    const [, verb, what = ''] = /^(run|create|image|resize)(?: (.+))?$/.exec(name) ?? [];
    if (verb === 'run') this.#sandbox(podUid, (endMs - startMs) / 1000, failed);
    if (verb === 'create') this.#created(podUid, what, detail);
    if (verb === 'image') this.#starts.pulled(podUid, { startMs, endMs });
    if (verb === 'resize') this.#of.resizeMs.observe({ success: String(!failed) }, endMs - startMs);
  }

  /** Records the results of a pod sync's steps. A container in CrashLoopBackOff does not count as started. */
  acted({ spec }: Pod, steps: StepResult[]): void {
    for (const { action, error } of steps) {
      const type = CONTAINER_TYPES[action];
      if (type === undefined || error?.reason === 'CrashLoopBackOff') continue;
      this.#of.startedContainers.inc({ container_type: type });
      if (error !== undefined) this.#of.startedContainerErrors.inc({ container_type: type, code: error.reason });
    }
    const hasBegun = steps.some(({ action }) => action === 'CreatePodSandbox');
    if (spec.hostUsers !== false || !hasBegun) return;
    this.#of.startedUserNamespaced.inc();
    if (failedSteps(steps).length > 0) this.#of.startedUserNamespacedErrors.inc();
  }

  /** Records a pod's published status; `pod` is `undefined` if the pod was deleted. */
  statusPublished(podUid: string, pod: Pod | undefined): void {
    if (pod === undefined) {
      this.#starts.forget(podUid);
      this.#statuses.forget(podUid);
    } else {
      this.#starts.statusChanged(pod, Date.now());
      this.#statuses.statusChanged(pod);
    }
  }

  /** Wraps the pod workers' sync steps to measure their duration. */
  timed(steps: PodSteps): PodSteps {
    const measure = async <T>(operation: string, work: () => Promise<T>): Promise<T> => {
      const startedAtMs = performance.now();
      try {
        return await work();
      } finally {
        this.#of.workerSeconds.observe({ operation_type: operation }, (performance.now() - startedAtMs) / 1000);
      }
    };
    return {
      sync: (pod, signal) => {
        const waitedMs = this.#starts.firstSync(pod.metadata.uid, Date.now());
        if (waitedMs !== undefined) this.#of.workerStartSeconds.observe(waitedMs / 1000);
        return measure(waitedMs === undefined ? 'sync' : 'create', () => steps.sync(pod, signal));
      },
      terminate: (pod, end, signal) => measure('kill', () => steps.terminate(pod, end, signal)),
      finish: (pod, end) => steps.finish(pod, end),
      remove: (pod, end) => steps.remove(pod, end),
    };
  }

  #sandbox(podUid: string, seconds: number, failed: boolean): void {
    const { spec } = this.#podOf(podUid) ?? {};
    const labels = { runtime_handler: spec?.runtimeClassName ?? '' };
    this.#starts.begun(podUid);
    this.#of.startedPods.inc();
    this.#of.sandboxSeconds.observe(labels, seconds);
    if (!failed) return;
    this.#of.startedPodErrors.inc();
    this.#of.sandboxErrors.inc(labels);
  }

  /**
   * Counts the image volumes of a newly created container. As in upstream, they count as mounted unless the container runtime's error is
   * ImageVolumeMountFailed.
   */
  #created(podUid: string, name: string, detail: string | undefined): void {
    const spec = this.#podOf(podUid)?.spec;
    const container = spec && everyContainer(spec).find((one) => one.name === name);
    const images = (spec?.volumes ?? []).filter(({ image }) => image !== undefined).map((volume) => volume.name);
    const mounts = (container?.volumeMounts ?? []).map((mount) => mount.name).filter((one) => images.includes(one));
    if (mounts.length === 0) return;
    this.#of.imageVolumes.inc(new Set(mounts).size);
    const outcome = detail?.includes('ImageVolumeMountFailed')
      ? this.#of.imageVolumeErrors
      : this.#of.imageVolumeMounts;
    outcome.inc(mounts.length);
  }
}

/** Upstream's container-type label for the containers started by a step. */
const CONTAINER_TYPES: Partial<Record<SyncAction, string>> = {
  StartContainer: 'container',
  StartInitContainer: 'init_container',
  StartEphemeralContainer: 'ephemeral_container',
};

function ownMetrics(registry: Registry) {
  return {
    ...syncMetrics(registry),
    ...containerMetrics(registry),
    ...podCounters(registry),
    ...resizeMetrics(registry),
  };
}
