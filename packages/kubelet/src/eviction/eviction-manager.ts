/** Evicts pods when the node runs out of resources: upstream's eviction manager (pkg/kubelet/eviction/eviction_manager.go). */
import { errorMessage, type Logger, pause, raceAbort } from '@podwright/base';
import { type EventRecorder, eventSubject, namespacedName, nodeSubject, type Pod } from '@podwright/kube-api';
import {
  type DiskLayout,
  isHard,
  isOfDisk,
  type NodePressure,
  resourceOf,
  type Threshold,
  withContainerFs,
} from '@podwright/kubelet-configuration';
import type { PodVerdict } from '../kubecontainer/sync-result.ts';
import type { PodStatsByDisk } from '../stats/pod-stats.ts';
import { EvictedSpace } from './evicted-space.ts';
import { evictionMessage } from './eviction-message.ts';
import { type Judgement, judgeThresholds, NOTHING_MET, type ThresholdMemory } from './judge-thresholds.ts';
import { nextLookMs } from './next-look.ts';
import type { NodeSignals } from './node-signals.ts';
import { missingOf, type Observations, thresholdInWords, thresholdsMet, usedOf } from './observed-signals.ts';
import { type Candidate, isExplained, isFirstByAssumption, rankPods, type Shortage } from './rank-pods.ts';
import { RecentUse } from './recent-use.ts';
import { type NodeReclaim, reclaimSteps } from './reclaim-steps.ts';
import { StorageLimits, type StorageLimitsDependencies } from './storage-limits.ts';

/** How long an eviction round waits for volume usage to be measured. Results that arrive later are used by a later round. */
const EVICTION_MEASURE_MS = 1000;

/**
 * How long an eviction waits for pod usage to be measured before it ranks the pods by their last known usage. It also waits this long for
 * each step that removes unused containers or images.
 */
const EVICTION_RANK_MS = 5000;

/** Delay before the next eviction round if measured usage does not account for the shortage and some pods could only be partly measured. */
const EVICTION_UNEXPLAINED_MS = 1000;

/** How long to measure partly measured pods again before one of them is evicted for usage that is only assumed. */
const EVICTION_DOUBT_MS = 3000;

/** Extra time after its deadline for a measurement to return its partial results. */
const EVICTION_MEASURE_REST_MS = 250;

/**
 * Number of consecutive checks without newly freed space after which removed files are assumed to be completely freed. File systems free
 * the space in the background.
 */
const EVICTION_CHECKS_IN_VAIN = 4;

/** Poll interval while waiting for pods to be cleaned up and for the space of removed files to be freed. */
const EVICTION_CLEAN_UP_LOOK_MS = 250;

/** How long to wait for evicted pods to be cleaned up before the next round (podCleanupTimeout). */
const EVICTION_CLEAN_UP_MS = 30_000;

/** The same while this process still deletes files: other pods' space would only be deleted after those. */
const EVICTION_DELETION_MS = 120_000;

/** Grace period of hard evictions, as in upstream; it is long enough for preStop hooks to start. */
const EVICTION_GRACE_SECONDS = 1;

/** How a pod is evicted: the reason and message of its failure, and its grace period. */
export type PodEviction = { verdict: PodVerdict; gracePeriodSeconds: number };

export type EvictionManagerDependencies = Pick<StorageLimitsDependencies, 'volumePaths' | 'heldInEmptyDirs'> & {
  thresholds: readonly Threshold[];
  /** How long a pressure condition persists after it was last observed (`evictionPressureTransitionPeriod`). */
  transitionMs: number;
  /** Maximum grace period of soft evictions, in seconds (`evictionMaxPodGracePeriod`). */
  maxPodGraceSeconds: number;
  periodMs: number;
  /** How long an eviction waits for pod usage to be measured, and for each node-level reclaim step. Default: five seconds. */
  rankMs?: number;
  nodeName: string;
  signals: Pick<NodeSignals, 'diskLayout' | 'observe' | 'observeDisks'>;
  pressure: NodePressure;
  /** Pods that are running or may start, with their allocated resources. */
  activePods: () => Pod[];
  /**
   * Returns the usage of the given pods. With `disk`, includes whatever disk usage is known by the time the signal aborts. With `fresh`,
   * usage is measured now rather than read from a cache.
   */
  podStats: (
    pods: readonly Pod[],
    what: { disk: boolean; fresh: boolean },
    signal: AbortSignal,
  ) => Promise<PodStatsByDisk[]>;
  isExempt: (pod: Pod) => boolean;
  reclaim: NodeReclaim;
  /**
   * Marks the pod as failed and kills it. Resolves once none of its containers are running or the signal aborts; rejects if that takes too
   * long.
   */
  evict: (pod: Pod, eviction: PodEviction, signal: AbortSignal) => Promise<void>;
  /** Whether this process, which may include the container runtime, is still deleting files of containers and volumes. */
  isDeleting?: () => boolean;
  /** Whether all resources of the pod have been reclaimed. */
  isCleanedUp: (pod: Pod) => boolean;
  events: EventRecorder;
  metrics?: { evicted(signal: string): void; statsAge(signal: string, seconds: number): void };
  logger: Logger;
};

/** The disk layout, which is detected only once, and the thresholds that apply to it. */
type Disks = { layout: DiskLayout; thresholds: readonly Threshold[] };

/** The results of one eviction round. */
type Round = { disks: Disks; observations: Observations; judgement: Judgement };

type Ended = PodEviction & { annotations?: Record<string, string> };

/** Checks the node's eviction signals periodically, and immediately after an eviction. A failed round is retried at the next interval. */
export class EvictionManager {
  readonly #deps: EvictionManagerDependencies;
  #memory: ThresholdMemory = NOTHING_MET;
  #disks: Disks | undefined;
  /** Observations of the last round; `#earlier` holds those of the round before. */
  #observations: Observations = new Map();
  #earlier: Observations = new Map();
  #stopping = new AbortController().signal;
  #limits: StorageLimits;
  readonly #reclaiming = new Map<keyof NodeReclaim, Promise<void>>();
  /** True if the pods' known usage does not account for the shortage and some pods were only partly measured. */
  #isUnexplained = false;
  /** When the current round began, monotonic. */
  #startedAtMs = 0;
  readonly #recentUse: RecentUse;

  constructor(deps: EvictionManagerDependencies) {
    this.#deps = deps;
    this.#recentUse = new RecentUse(deps.transitionMs);
    this.#limits = this.#newLimits();
  }

  #newLimits(): StorageLimits {
    const { podStats, volumePaths, heldInEmptyDirs, logger } = this.#deps;
    const stopping = this.#stopping;
    const stats = (pods: readonly Pod[]) =>
      podStats(pods, { disk: true, fresh: false }, AbortSignal.any([stopping, AbortSignal.timeout(EVICTION_RANK_MS)]));
    return new StorageLimits({ podStats: stats, volumePaths, heldInEmptyDirs, logger }, stopping);
  }

  /** Runs eviction rounds until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    this.#stopping = signal;
    this.#limits = this.#newLimits();
    let problem = '';
    while (!signal.aborted) {
      let evicted: Pod[] = [];
      try {
        evicted = await this.synchronize();
        problem = '';
      } catch (error) {
        if (errorMessage(error) !== problem)
          this.#deps.logger.warn({ error: errorMessage(error) }, 'eviction manager: the node could not be checked');
        problem = errorMessage(error);
      }
      if (evicted.length === 0) await this.#untilNextRound(signal);
      else await this.#cleanUp(evicted, signal);
    }
    // a program that measures a remote volume may hang
    await raceAbort(this.#limits.settled(), AbortSignal.timeout(EVICTION_MEASURE_MS)).catch(() => undefined);
  }

  /** Waits until the next round is due or a disk crosses a threshold. The faster a disk fills up, the more often it is checked. */
  async #untilNextRound(signal: AbortSignal): Promise<void> {
    const { periodMs, signals } = this.#deps;
    const thresholds = this.#disks?.thresholds.filter((one) => !this.#memory.metSinceMs.has(one)) ?? [];
    const untilMs = performance.now() + (this.#isUnexplained ? Math.min(periodMs, EVICTION_UNEXPLAINED_MS) : periodMs);
    let [before, now] = [this.#earlier, this.#observations];
    while (!signal.aborted && thresholdsMet(thresholds, now, { withReclaim: false }).length === 0) {
      const leftMs = untilMs - performance.now();
      const pauseMs = nextLookMs(thresholds, { before, now }, leftMs);
      await pause(pauseMs, signal);
      if (pauseMs === leftMs) return;
      [before, now] = [now, await signals.observeDisks()];
    }
  }

  /**
   * Runs one round: evicts all pods that exceed their own storage limits or, if there are none, at most one pod because of a node-level
   * threshold. Returns the evicted pods.
   */
  async synchronize(): Promise<Pod[]> {
    this.#isUnexplained = false;
    this.#startedAtMs = performance.now();
    const disks = await this.#knownDisks();
    const observations = await this.#deps.signals.observe();
    const round = this.#judge(disks, observations);
    const [threshold] = round.judgement.pressing;
    if (threshold !== undefined) await this.#measureAtOnce(threshold);
    const overLimit = await this.#enforceStorageLimits(disks);
    if (overLimit.length > 0) return overLimit;
    return threshold === undefined ? [] : await this.#reclaim(threshold, round);
  }

  #judge(disks: Disks, observations: Observations): Round {
    const { pressure, logger, transitionMs } = this.#deps;
    this.#earlier = this.#observations;
    this.#observations = observations;
    const judgement = judgeThresholds(this.#memory, {
      thresholds: disks.thresholds,
      observations,
      nowMs: performance.now(),
      transitionMs,
    });
    this.#memory = judgement.memory;
    const reported = [...judgement.memory.metSinceMs.keys()].filter(({ signal }) => isReported(signal, disks.layout));
    const reasons = reported.map((one) => thresholdInWords(one, observations));
    if (reasons.length > 0) logger.debug({ reasons, conditions: judgement.conditions }, 'eviction thresholds are met');
    pressure.set(judgement.conditions, reasons);
    return { disks, observations, judgement };
  }

  async #knownDisks(): Promise<Disks> {
    const { signals, thresholds, logger } = this.#deps;
    if (this.#disks !== undefined) return this.#disks;
    const layout = await signals.diskLayout();
    for (const { signal } of thresholds.filter((one) => one.signal.startsWith('containerfs.')))
      logger.warn({ signal }, 'the containerfs threshold is ignored: it follows that of nodefs or imagefs');
    this.#disks = { layout, thresholds: withContainerFs(thresholds, layout) };
    return this.#disks;
  }

  /**
   * Evicts the pods that exceed their own storage limits. Waits at most one second for them to be measured, because pods control how long
   * it takes to walk their volumes. Results that arrive later are used by a later round.
   */
  async #enforceStorageLimits(disks: Disks): Promise<Pod[]> {
    const measuring = this.#limits.measure(this.#deps.activePods(), disks.layout);
    await Promise.race([measuring, pause(EVICTION_MEASURE_MS, this.#stopping)]);
    const evicted: Pod[] = [];
    for (const { pod, excess } of this.#limits.take()) {
      const { signal, message } = excess;
      if (await this.#evict(pod, signal, hard({ reason: 'Evicted', message }))) evicted.push(pod);
    }
    return evicted;
  }

  async #reclaim(threshold: Threshold, round: Round): Promise<Pod[]> {
    const { events, nodeName, logger, activePods } = this.#deps;
    const resource = resourceOf(threshold.signal);
    events.event(nodeSubject(nodeName), 'Warning', 'EvictionThresholdMet', `Attempting to reclaim ${resource}`);
    const isOver = !(await this.#isMet(threshold)) || (await this.#reclaimFromNode(threshold, round.disks));
    if (this.#stopping.aborted) return []; // the signal aborted the reclaim, so its result is meaningless
    const pods = activePods();
    if (pods.length === 0) {
      if (!isOver) logger.warn({ resource }, 'the eviction threshold is met, but there is no pod to evict');
      return [];
    }
    await this.#measureForRank(pods, threshold.signal);
    if (this.#stopping.aborted) return [];
    if (isOver || !(await this.#isMet(threshold))) return await this.#afterShortage(threshold, round);
    const shortage = shortageOf(threshold, round);
    const candidates = this.#recentUse.atPeakUse(pods, shortage, this.#startedAtMs);
    if (!isExplained(candidates, shortage) && !this.#recentUse.countShortage(threshold.signal, performance.now())) {
      this.#isUnexplained = candidates.some(({ stats }) => stats === undefined || stats.isPartial);
      logger.warn({ resource }, 'more is missing than all pods use: no pod is evicted yet');
      return [];
    }
    const known = await this.#withoutDoubt(candidates, shortage);
    if (this.#stopping.aborted) return [];
    if (!(await this.#isMet(threshold))) return await this.#afterShortage(threshold, round);
    this.#reportAges(round);
    for (const candidate of rankPods(known, shortage))
      if (await this.#evictFor(threshold, candidate, round)) return [candidate.pod];
    logger.warn({ resource }, 'the eviction threshold is met, but none of the pods may be evicted');
    return [];
  }

  /**
   * Measures partly measured pods again while one of them would be evicted for usage that is only assumed: a pod that replaces its files
   * all the time is counted completely by some of the measurements.
   */
  async #withoutDoubt(given: Candidate[], shortage: Shortage): Promise<Candidate[]> {
    const { rankMs = EVICTION_RANK_MS, isExempt } = this.#deps;
    const untilMs = performance.now() + Math.min(rankMs, EVICTION_DOUBT_MS);
    let candidates = given;
    const isDoubtful = () =>
      isFirstByAssumption(
        candidates.filter(({ pod }) => !isExempt(pod)),
        shortage,
      );
    while (isDoubtful() && performance.now() < untilMs && !this.#stopping.aborted) {
      const partial = candidates.flatMap(({ pod, stats }) => (stats?.isPartial ? [pod] : []));
      await this.#measureUse(partial, shortage.signal, EVICTION_MEASURE_MS).catch(() => undefined);
      const pods = candidates.map(({ pod }) => pod);
      candidates = this.#recentUse.atPeakUse(pods, shortage, this.#startedAtMs);
      await pause(EVICTION_CLEAN_UP_LOOK_MS, this.#stopping);
    }
    return candidates;
  }

  /** Evicts a pod that keeps causing shortages which end before the pod can be measured. */
  async #afterShortage(threshold: Threshold, round: Round): Promise<Pod[]> {
    const { signals, activePods, logger } = this.#deps;
    const { signal } = threshold;
    logger.info({ resource: resourceOf(signal) }, 'the eviction threshold is no longer met, no pod was evicted');
    const { observations } = this.#judge(round.disks, await signals.observe());
    if (!this.#recentUse.countShortage(signal, performance.now())) return [];
    const shortage = shortageOf(threshold, round);
    const freed = shortage.missing - missingOf(threshold, observations);
    const candidate = this.#recentUse.mostUnsteady(activePods(), shortage, freed);
    return candidate !== undefined && (await this.#evictFor(threshold, candidate, round)) ? [candidate.pod] : [];
  }

  async #isMet(threshold: Threshold): Promise<boolean> {
    return thresholdsMet([threshold], await this.#deps.signals.observe(), { withReclaim: true }).length > 0;
  }

  #reportAges({ judgement, observations }: Round): void {
    for (const { signal } of judgement.pressing) {
      const ageMs = performance.now() - (observations.get(signal)?.atMs ?? performance.now());
      this.#deps.metrics?.statsAge(signal, ageMs / 1000);
    }
  }

  async #evictFor(threshold: Threshold, candidate: Candidate, { judgement, observations }: Round): Promise<boolean> {
    const { pod } = candidate;
    const { pressing } = judgement;
    const resource = resourceOf(threshold.signal);
    const { message, annotations } = evictionMessage(candidate, resource, { pressing, observations });
    const verdict = { reason: 'Evicted', message, disruption: message };
    const end = { verdict, annotations, gracePeriodSeconds: this.#graceSeconds(pod, threshold) };
    if (!(await this.#evict(pod, threshold.signal, end))) return false;
    this.#recentUse.forgetShortages();
    return true;
  }

  /** Measures pod usage while the pods still hold the resource, without waiting for slow volumes. */
  async #measureAtOnce({ signal }: Threshold): Promise<void> {
    await this.#measureUse(this.#deps.activePods(), signal, EVICTION_MEASURE_MS).catch((error: unknown) =>
      this.#deps.logger.debug({ error: errorMessage(error) }, 'the pods could not be measured immediately'),
    );
  }

  /**
   * Measures pod usage for ranking. For memory and PID shortages, rejects if no pod's usage is known; no pod is then evicted, as in
   * upstream.
   */
  async #measureForRank(pods: Pod[], signal: Threshold['signal']): Promise<void> {
    const { rankMs = EVICTION_RANK_MS, logger } = this.#deps;
    await this.#measureUse(pods, signal, rankMs).catch((error: unknown) => {
      if (this.#stopping.aborted) return;
      const known = this.#recentUse.atPeakUse(pods, { signal, layout: this.#disks!.layout }, 0);
      if (!isOfDisk(signal) && known.every(({ stats }) => stats === undefined)) throw error;
      logger.warn({ error: errorMessage(error) }, 'the pods could not be measured: they are ranked by earlier use');
    });
  }

  /** Measures pod usage, waiting up to `waitMs` for volumes. A result that arrives later is still used by later rounds. */
  async #measureUse(pods: Pod[], signal: Threshold['signal'], waitMs: number): Promise<void> {
    const until = (ms: number) => AbortSignal.any([this.#stopping, AbortSignal.timeout(ms)]);
    const what = { disk: isOfDisk(signal), fresh: true };
    const startedAtMs = performance.now();
    const measuring = this.#deps
      .podStats(pods, what, until(waitMs))
      .then((stats) => this.#recentUse.add(stats, startedAtMs));
    await raceAbort(measuring, until(waitMs + EVICTION_MEASURE_REST_MS));
  }

  /** Removes unused containers and images. Returns true if no threshold is met afterwards. */
  async #reclaimFromNode({ signal }: Threshold, disks: Disks): Promise<boolean> {
    const steps = reclaimSteps(signal, disks.layout);
    const { rankMs = EVICTION_RANK_MS } = this.#deps;
    for (const step of steps) await Promise.race([this.#reclaimBy(step), pause(rankMs, this.#stopping)]);
    if (steps.length === 0) return false;
    return (await this.#shortAfterAll(disks)).length === 0;
  }

  /** Starts the reclaim step unless it is already running. Never rejects. */
  #reclaimBy(step: keyof NodeReclaim): Promise<void> {
    const { reclaim, logger } = this.#deps;
    const running =
      this.#reclaiming.get(step) ??
      reclaim[step](this.#stopping)
        .catch((error: unknown) =>
          logger.warn({ step, error: errorMessage(error) }, 'some unused containers or images could not be removed'),
        )
        .finally(() => this.#reclaiming.delete(step));
    this.#reclaiming.set(step, running);
    return running;
  }

  /**
   * Waits for the space of removed files, which file systems free in the background, and of evicted pods, which the container runtime
   * may also remove in the background. Returns the thresholds that are still met.
   */
  async #shortAfterAll({ thresholds }: Disks, evicted?: EvictedSpace): Promise<Threshold[]> {
    const startedAtMs = performance.now();
    const waitMs = () =>
      evicted !== undefined && this.#deps.isDeleting?.() ? EVICTION_DELETION_MS : EVICTION_CLEAN_UP_MS;
    const most = new Map<Threshold, bigint>();
    for (let checksInVain = 0; ; ) {
      const observations = await this.#deps.signals.observe();
      const met = thresholdsMet(thresholds, observations, { withReclaim: true });
      const onDisk = met.filter(({ signal }) => isOfDisk(signal));
      const freer = onDisk.filter((one) => observations.get(one.signal)!.available > (most.get(one) ?? -1n));
      for (const one of freer) most.set(one, observations.get(one.signal)!.available);
      checksInVain = freer.length > 0 ? 0 : checksInVain + 1;
      if (onDisk.length === 0 || performance.now() > startedAtMs + waitMs() || this.#stopping.aborted) return met;
      if (checksInVain >= EVICTION_CHECKS_IN_VAIN) {
        if (evicted === undefined || (await this.#isFreed(evicted, onDisk, observations))) return met;
        checksInVain = 0;
      }
      await pause(EVICTION_CLEAN_UP_LOOK_MS, this.#stopping);
    }
  }

  #graceSeconds({ spec }: Pod, threshold: Threshold): number {
    if (isHard(threshold)) return EVICTION_GRACE_SECONDS;
    const { maxPodGraceSeconds } = this.#deps;
    const wanted = Math.min(maxPodGraceSeconds, spec.terminationGracePeriodSeconds ?? maxPodGraceSeconds);
    return Math.max(EVICTION_GRACE_SECONDS, wanted);
  }

  /** Evicts the pod and waits for it to stop. Returns false if the pod is critical or has already been removed. */
  async #evict(pod: Pod, signal: string, { annotations, ...eviction }: Ended): Promise<boolean> {
    const { isExempt, isCleanedUp, evict, events, metrics, logger } = this.#deps;
    if (isCleanedUp(pod)) return false;
    const fields = { pod: namespacedName(pod), signal };
    if (isExempt(pod)) {
      logger.warn(fields, 'a critical pod cannot be evicted');
      return false;
    }
    const { reason, message } = eviction.verdict;
    events.event({ ...eventSubject(pod), annotations }, 'Warning', reason, message);
    await evict(pod, eviction, this.#stopping).catch((error: unknown) =>
      logger.error({ ...fields, error: errorMessage(error) }, 'an evicted pod did not stop'),
    );
    metrics?.evicted(signal);
    return true;
  }

  async #cleanUp(pods: Pod[], signal: AbortSignal): Promise<void> {
    const disks = this.#disks;
    const space = disks && this.#spaceOf(pods, disks);
    const untilMs = performance.now() + EVICTION_CLEAN_UP_MS;
    while (!signal.aborted && performance.now() < untilMs && !pods.every(this.#deps.isCleanedUp))
      await pause(EVICTION_CLEAN_UP_LOOK_MS, signal);
    if (disks === undefined || signal.aborted) return;
    // a container's layer is removed with the container
    const { rankMs = EVICTION_RANK_MS } = this.#deps;
    if (space?.isOnDisk) await Promise.race([this.#reclaimBy('deleteUnusedContainers'), pause(rankMs, signal)]);
    await this.#shortAfterAll(disks, space).catch(() => undefined);
  }

  /** What the evicted pods are expected to free on the disks that were short in their round. */
  #spaceOf(evicted: readonly Pod[], { layout, thresholds }: Disks): EvictedSpace {
    const short = thresholdsMet(thresholds, this.#observations, { withReclaim: false });
    const uids = new Set(evicted.map(({ metadata }) => metadata.uid));
    const others = this.#deps.activePods().filter(({ metadata }) => !uids.has(metadata.uid));
    const disks = short
      .filter(({ signal }) => isOfDisk(signal))
      .map(({ signal }) => {
        const resource = { signal, layout };
        const useBefore = (pods: readonly Pod[]) => this.#recentUse.atPeakUse(pods, resource, this.#startedAtMs);
        const { available } = this.#observations.get(signal)!;
        return { resource, available, evicted: useBefore(evicted), others: useBefore(others) };
      });
    return new EvictedSpace(disks);
  }

  /**
   * Whether the space of evicted pods is free. Measures the other pods if it does not seem to be, because they may fill a disk as fast as
   * it is freed.
   */
  async #isFreed(space: EvictedSpace, short: readonly Threshold[], observations: Observations): Promise<boolean> {
    const signals = short.map(({ signal }) => signal);
    if (space.isFreed(signals, observations, [])) return true;
    const late = AbortSignal.any([this.#stopping, AbortSignal.timeout(EVICTION_MEASURE_MS)]);
    const measuring = this.#deps.podStats(this.#deps.activePods(), { disk: true, fresh: true }, late);
    const rest = AbortSignal.any([this.#stopping, AbortSignal.timeout(EVICTION_MEASURE_MS + EVICTION_MEASURE_REST_MS)]);
    const now = await raceAbort(measuring, rest).catch(() => []);
    return space.isFreed(signals, observations, now);
  }
}

const hard = (verdict: PodVerdict): PodEviction => ({ verdict, gracePeriodSeconds: EVICTION_GRACE_SECONDS });

function shortageOf(threshold: Threshold, { disks, observations }: Round): Shortage {
  return {
    signal: threshold.signal,
    layout: disks.layout,
    missing: missingOf(threshold, observations),
    used: usedOf(threshold, observations),
  };
}

/**
 * containerfs signals are reported only if container layers have a file system of their own; otherwise they duplicate those of nodefs or
 * imagefs.
 */
const isReported = (signal: Threshold['signal'], layout: DiskLayout) =>
  layout === 'split' || !signal.startsWith('containerfs.');
