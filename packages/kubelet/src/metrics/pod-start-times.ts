import type { Gauge, Histogram } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';

type Interval = { startMs: number; endMs: number };

type Start = {
  seenAtMs: number;
  pulls: Interval[];
  /** Whether a sandbox has been requested. Pods already running when the kubelet starts never request one, so they are not measured. */
  begun: boolean;
  synced: boolean;
  /** Whether the phase Running has been published. */
  running: boolean;
  /** Whether all containers have been started. */
  started: boolean;
};

export type StartMetrics = {
  start: Histogram;
  sli: Histogram;
  total: Histogram;
  /**
   * Like `sli`, a pod's startup duration, but recorded only for the first pod of this kubelet that starts and is not on the host network.
   */
  firstNetwork: Gauge;
};

/**
 * Measures how long pods take to start: from when a pod is first seen until it is Running, and from its creation until all of its
 * containers have started.
 */
export class PodStartTimes {
  readonly #metrics: StartMetrics;
  readonly #starts = new Map<string, Start>();
  #hasStartedNetwork = false;

  constructor(metrics: StartMetrics) {
    this.#metrics = metrics;
  }

  /** Records that the pod was first seen at `atMs` (Unix milliseconds). */
  seen(podUid: string, atMs: number): void {
    this.#starts.set(podUid, {
      seenAtMs: atMs,
      pulls: [],
      begun: false,
      synced: false,
      running: false,
      started: false,
    });
  }

  begun(podUid: string): void {
    const start = this.#starts.get(podUid);
    if (start !== undefined) start.begun = true;
  }

  pulled(podUid: string, interval: Interval): void {
    const start = this.#starts.get(podUid);
    if (start !== undefined && !start.started) start.pulls.push(interval);
  }

  /**
   * Must be called for each sync of the pod. Returns the time between when the pod was first seen and its first sync, in milliseconds;
   * `undefined` for later syncs.
   */
  firstSync(podUid: string, atMs: number): number | undefined {
    const start = this.#starts.get(podUid);
    if (start === undefined || start.synced) return undefined;
    start.synced = true;
    return Math.max(0, atMs - start.seenAtMs);
  }

  /** Records the pod's published status. */
  statusChanged({ metadata, status, spec }: Pod, nowMs: number): void {
    const start = this.#starts.get(metadata.uid);
    if (start === undefined || !start.begun || start.started) return;
    if (status?.phase === 'Running' && !start.running) {
      start.running = true;
      this.#metrics.start.observe((nowMs - start.seenAtMs) / 1000);
    }
    const statuses = status?.containerStatuses ?? [];
    if (statuses.length < spec.containers.length || !statuses.every(({ state }) => state.running)) return;
    start.started = true;
    const total = nowMs - creationMs(metadata.creationTimestamp, start.seenAtMs);
    this.#metrics.total.observe(total / 1000);
    const sli = Math.max(0, total - coveredMs([...start.pulls, ...initIntervals(status)])) / 1000;
    this.#metrics.sli.observe(sli);
    if (spec.hostNetwork === true || this.#hasStartedNetwork) return;
    this.#hasStartedNetwork = true;
    this.#metrics.firstNetwork.set(sli);
  }

  forget(podUid: string): void {
    this.#starts.delete(podUid);
  }
}

/**
 * Returns the pod's creation time. creationTimestamp only has a resolution of one second, so a pod first seen within that second is assumed
 * to have been created at that moment.
 */
function creationMs(timestamp: string | undefined, seenAtMs: number): number {
  const created = Date.parse(timestamp ?? '');
  return created + 1000 <= seenAtMs ? created : seenAtMs;
}

function initIntervals(status: Pod['status']): Interval[] {
  return (status?.initContainerStatuses ?? []).flatMap(({ state }) => {
    const { startedAt, finishedAt } = state.terminated ?? {};
    return startedAt && finishedAt ? [{ startMs: Date.parse(startedAt), endMs: Date.parse(finishedAt) }] : [];
  });
}

/** Returns the total length of the intervals, counting overlaps only once. Pure. */
export function coveredMs(intervals: Interval[]): number {
  let covered = 0;
  let end = Number.NEGATIVE_INFINITY;
  for (const { startMs, endMs } of [...intervals].sort((a, b) => a.startMs - b.startMs)) {
    covered += Math.max(0, endMs - Math.max(startMs, end));
    end = Math.max(end, endMs);
  }
  return covered;
}
