import type { Registry } from '@podwright/base';
import type { Container, Pod } from '../api/types.ts';
import type { PodSteps } from '../pod/pod-workers.ts';
import type { PodObserver } from '../pod/sync-loop.ts';
import type { TraceSpan } from '../trace/pod-tracer.ts';
import { containerMetrics, podCounters, resizeMetrics, startMetrics, syncMetrics } from './pod-metrics.ts';
import { PodStartTimes } from './pod-start-times.ts';
import { requestedResizes } from './requested-resizes.ts';
import { StatusMetrics } from './status-metrics.ts';

/** Why pods are refused, as far as upstream counts each reason by itself; other resources that a node lacks are one, the rest another. */
const REFUSALS: ReadonlySet<string> = new Set([
  'AppArmor',
  'OutOfcpu',
  'OutOfephemeral-storage',
  'OutOfmemory',
  'OutOfpods',
  'PodOSNotSupported',
  'PodOSSelectorNodeLabelDoesNotMatch',
  'SupplementalGroupsPolicyNotSupported',
  'SysctlForbidden',
]);

/** The kubelet's metrics by upstream's names (pkg/kubelet/metrics), made of the steps of pods and of their statuses. */
export class KubeletMetrics implements PodObserver {
  readonly #starts: PodStartTimes;
  readonly #statuses: StatusMetrics;
  readonly #podOf: (uid: string) => Pod | undefined;
  readonly #of: ReturnType<typeof ownMetrics>;
  /** Pods with user namespaces that got a sandbox in the sync that goes on, and of which nothing has failed since. */
  readonly #userNamespaced = new Set<string>();

  /** `podOf` finds a pod that is synced. */
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

  /** A pod begins anew, as it came back while it was being removed. */
  cameBack(): void {
    this.#of.comebacks.inc({ static: 'true' });
  }

  /** What was left of so many pods that are gone was looked for and removed, but of so many that it could not be. */
  swept({ pods, failures }: { pods: number; failures: number }): void {
    this.#of.swept.set(pods);
    this.#of.sweepFailures.set(failures);
  }

  evicted(signal: string): void {
    this.#of.evictions.inc({ eviction_signal: signal });
  }

  /** A step of a pod has ended, or something that takes no time has happened. */
  step(podUid: string, { name, startMs, endMs, detail }: TraceSpan): void {
    const failed = detail?.startsWith('failed: ') === true;
    const [, verb, what = ''] = /^(run|create|start|image|resize)(?: (.+))?$/.exec(name) ?? [];
    if (verb === 'run') this.#sandbox(podUid, (endMs - startMs) / 1000, failed);
    if (verb === 'create') this.#created(podUid, what, detail);
    if (verb === 'image') this.#starts.pulled(podUid, { startMs, endMs });
    if (verb === 'resize') this.#of.resizeMs.observe({ success: String(!failed) }, endMs - startMs);
    if ((verb !== 'create' && verb !== 'start') || !failed) return;
    const code = ERROR_CODES[verb];
    this.#of.startedContainerErrors.inc({ container_type: containerIn(this.#podOf(podUid), what).type, code });
    if (this.#userNamespaced.delete(podUid)) this.#of.startedUserNamespacedErrors.inc();
  }

  /** The pod as its status is told now; `undefined` when it is gone. */
  told(podUid: string, pod: Pod | undefined): void {
    if (pod === undefined) {
      this.#starts.forget(podUid);
      this.#statuses.forget(podUid);
    } else {
      this.#starts.told(pod, Date.now());
      this.#statuses.told(pod);
    }
  }

  /** The same steps, measured. */
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
        const { uid } = pod.metadata;
        const waitedMs = this.#starts.firstSync(uid, Date.now());
        if (waitedMs !== undefined) this.#of.workerStartSeconds.observe(waitedMs / 1000);
        const work = () => steps.sync(pod, signal).finally(() => this.#userNamespaced.delete(uid));
        return measure(waitedMs === undefined ? 'sync' : 'create', work);
      },
      terminate: (pod, end, signal) => measure('kill', () => steps.terminate(pod, end, signal)),
      finish: (pod, end) => measure('kill', () => steps.finish(pod, end)),
      remove: (pod) => steps.remove(pod),
    };
  }

  #sandbox(podUid: string, seconds: number, failed: boolean): void {
    const { spec } = this.#podOf(podUid) ?? {};
    const labels = { runtime_handler: spec?.runtimeClassName ?? '' };
    const isUserNamespaced = spec?.hostUsers === false;
    this.#starts.begun(podUid);
    this.#of.startedPods.inc();
    this.#of.sandboxSeconds.observe(labels, seconds);
    if (isUserNamespaced) this.#of.startedUserNamespaced.inc();
    if (isUserNamespaced && !failed) this.#userNamespaced.add(podUid);
    if (!failed) return;
    this.#of.startedPodErrors.inc();
    this.#of.sandboxErrors.inc(labels);
    if (isUserNamespaced) this.#of.startedUserNamespacedErrors.inc();
  }

  /** Upstream takes an image volume for mounted unless the runtime says by its error that it is not. */
  #created(podUid: string, name: string, detail: string | undefined): void {
    const pod = this.#podOf(podUid);
    const { type, container } = containerIn(pod, name);
    this.#of.startedContainers.inc({ container_type: type });
    const images = (pod?.spec.volumes ?? []).filter(({ image }) => image !== undefined).map((volume) => volume.name);
    const mounts = (container?.volumeMounts ?? []).map((mount) => mount.name).filter((one) => images.includes(one));
    if (mounts.length === 0) return;
    this.#of.imageVolumes.inc(new Set(mounts).size);
    const outcome = detail?.includes('ImageVolumeMountFailed')
      ? this.#of.imageVolumeErrors
      : this.#of.imageVolumeMounts;
    outcome.inc(mounts.length);
  }
}

/** Upstream's codes of the errors with which containers are not created and not started. */
const ERROR_CODES = { create: 'CreateContainerError', start: 'RunContainerError' } as const;

function ownMetrics(registry: Registry) {
  return {
    ...syncMetrics(registry),
    ...containerMetrics(registry),
    ...podCounters(registry),
    ...resizeMetrics(registry),
  };
}

function containerIn(pod: Pod | undefined, name: string): { type: string; container?: Container } {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = pod?.spec ?? {};
  const lists = { container: containers, init_container: initContainers, ephemeral_container: ephemeralContainers };
  for (const [type, list] of Object.entries(lists)) {
    const container = list.find((one) => one.name === name);
    if (container !== undefined) return { type, container };
  }
  return { type: 'ephemeral_container' };
}
