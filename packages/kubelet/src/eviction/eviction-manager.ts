/** Evicts pods when the node runs out of resources: upstream's eviction manager (pkg/kubelet/eviction/eviction_manager.go). */
import { errorMessage, pause, raceAbort } from '@podwright/base';
import { nodeSubject, type Pod } from '@podwright/kube-api';
import { missingOf, resourceOf, type Threshold, usedOf } from '@podwright/kubelet-configuration';
import { awaitSpace, type SpaceOfEvicted, type SpaceWaitDependencies } from './await-space.ts';
import { type EvictionDependencies, evictFor, evictOverLimit } from './evict-pod.ts';
import { evictedSpace } from './evicted-space.ts';
import { EVICTION_CLEAN_UP_MS, EVICTION_LOOK_MS, EVICTION_MEASURE_MS, EVICTION_RANK_MS } from './limits.ts';
import { measureFrozen } from './measure-frozen.ts';
import {
  currentDiskUse,
  measureAtOnce,
  measureForRank,
  type PodMeasurement,
  type PodMeasurementDependencies,
  withoutDoubt,
} from './measure-pods.ts';
import { NodeReclaimer, type NodeReclaimerDependencies } from './node-reclaimer.ts';
import { type NodeDisks, NodeThresholds, type NodeThresholdsDependencies, type Round } from './node-thresholds.ts';
import { type Candidate, isExplained, type Resource, rankPods, type Shortage } from './rank-pods.ts';
import { RecentUse } from './recent-use.ts';
import { StorageLimits, type StorageLimitsDependencies } from './storage-limits.ts';

/** Delay before the next eviction round if measured usage does not account for the shortage and some pods could only be measured partly. */
const EVICTION_UNEXPLAINED_MS = 1000;

export type EvictionManagerDependencies = NodeThresholdsDependencies &
  PodMeasurementDependencies &
  NodeReclaimerDependencies &
  SpaceWaitDependencies &
  EvictionDependencies &
  Pick<StorageLimitsDependencies, 'volumePaths' | 'heldInEmptyDirs' | 'claimLimits'> & {
    periodMs: number;
    /** How long an eviction waits for pod usage to be measured, and for each node-level reclaim step. Defaults to five seconds. */
    rankMs?: number;
    nodeName: string;
    /** Pods that are running or might still start, with their allocated resources. */
    activePods: () => Pod[];
    metrics?: { statsAge(signal: string, seconds: number): void };
    /** Called whenever the thresholds have been checked and the pressure conditions updated. */
    onJudged?: () => void;
  };

/** Dependencies of the manager from the time it starts until `stopping` aborts. */
type Run = { input: EvictionManagerDependencies & PodMeasurement; limits: StorageLimits; reclaimer: NodeReclaimer };

/** Checks the node's eviction signals periodically, and immediately after an eviction. A failed round is retried at the next interval. */
export class EvictionManager {
  readonly #deps: EvictionManagerDependencies;
  readonly #thresholds: NodeThresholds;
  readonly #recentUse: RecentUse;
  #run: Run;
  /** True if the pods' known usage does not account for the shortage and some pods were measured only partly. */
  #isUnexplained = false;
  /** Start of the current round (monotonic). */
  #startedAtMs = 0;

  constructor(deps: EvictionManagerDependencies) {
    this.#deps = deps;
    this.#thresholds = new NodeThresholds(deps);
    this.#recentUse = new RecentUse(deps.transitionMs);
    this.#run = runOf(deps, this.#recentUse, new AbortController().signal);
  }

  /** Runs eviction rounds until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    this.#run = runOf(this.#deps, this.#recentUse, signal);
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
    // do not wait forever: a process that measures a remote volume may hang
    await raceAbort(this.#run.limits.settled(), AbortSignal.timeout(EVICTION_MEASURE_MS)).catch(() => undefined);
  }

  async #untilNextRound(signal: AbortSignal): Promise<void> {
    const { periodMs } = this.#deps;
    await this.#thresholds.untilDue(
      this.#isUnexplained ? Math.min(periodMs, EVICTION_UNEXPLAINED_MS) : periodMs,
      signal,
    );
  }

  /** Waits until the evicted pods are cleaned up and their space is free. */
  async #cleanUp(pods: Pod[], signal: AbortSignal): Promise<void> {
    const { isCleanedUp, activePods } = this.#deps;
    const { reclaimer } = this.#run;
    const [round, sinceMs] = [this.#thresholds.last, this.#startedAtMs];
    if (round === undefined) return;
    const useIn = (some: readonly Pod[], resource: Resource) => this.#recentUse.atPeakUse(some, resource, sinceMs);
    const space = evictedSpace(pods, { ...round, active: activePods(), useIn });
    const untilMs = performance.now() + EVICTION_CLEAN_UP_MS;
    while (!signal.aborted && performance.now() < untilMs && !pods.every(isCleanedUp))
      await pause(EVICTION_LOOK_MS, signal);
    if (signal.aborted) return;
    // container layers are freed only when their containers are removed, so remove the exited containers now
    if (space.isOnDisk) await reclaimer.run('deleteUnusedContainers');
    const isRemoving = () => !pods.every(isCleanedUp) || reclaimer.isRunning('deleteUnusedContainers');
    await this.#awaitSpace(round.disks, { space, isRemoving }).catch(() => undefined);
  }

  /**
   * Runs one round: evicts all pods that exceed their own storage limits or, if there are none, at most one pod because of a node-level
   * threshold. Returns the evicted pods.
   */
  async synchronize(): Promise<Pod[]> {
    this.#isUnexplained = false;
    this.#startedAtMs = performance.now();
    const round = await this.#thresholds.judge();
    this.#deps.onJudged?.();
    const [threshold] = round.judgement.pressing;
    if (threshold !== undefined) await measureAtOnce(this.#run.input, this.#deps.activePods(), threshold.signal);
    const overLimit = await this.#enforceStorageLimits(round.disks);
    if (overLimit.length > 0) return overLimit;
    return threshold === undefined ? [] : await this.#reclaim(threshold, round);
  }

  /**
   * Evicts pods that exceed their own storage limits. Waits at most one second for their measurement, because pods control how long it
   * takes to walk their volumes. Late results are used by a later round.
   */
  async #enforceStorageLimits(disks: NodeDisks): Promise<Pod[]> {
    const { limits, input } = this.#run;
    const measuring = limits.measure(this.#deps.activePods(), disks.layout);
    await Promise.race([measuring, pause(EVICTION_MEASURE_MS, input.stopping)]);
    const evicted: Pod[] = [];
    for (const found of limits.take()) if (await evictOverLimit(input, found)) evicted.push(found.pod);
    return evicted;
  }

  async #reclaim(threshold: Threshold, round: Round): Promise<Pod[]> {
    const { input } = this.#run;
    const { events, nodeName, logger, activePods, stopping } = input;
    const resource = resourceOf(threshold.signal);
    events.event(nodeSubject(nodeName), 'Warning', 'EvictionThresholdMet', `Attempting to reclaim ${resource}`);
    const isOver = !(await this.#thresholds.isMet(threshold)) || (await this.#reclaimFromNode(threshold, round.disks));
    if (stopping.aborted) return []; // the signal aborted the reclaim, so its result is meaningless
    const pods = activePods();
    if (pods.length === 0) {
      if (!isOver) logger.warn({ resource }, 'the eviction threshold is met, but there is no pod to evict');
      return [];
    }
    const shortage = shortageOf(threshold, round);
    await measureForRank(input, pods, shortage);
    if (stopping.aborted) return [];
    if (isOver || !(await this.#thresholds.isMet(threshold))) return await this.#afterShortage(threshold, round);
    const candidates = this.#recentUse.atPeakUse(pods, shortage, this.#startedAtMs);
    if (!isExplained(candidates, shortage) && !this.#recentUse.countShortage(threshold.signal, performance.now())) {
      this.#isUnexplained = candidates.some(({ stats }) => stats === undefined || stats.isPartial);
      logger.warn({ resource }, 'more is missing than all pods use: no pod is evicted yet');
      return [];
    }
    await measureFrozen(input, candidates, shortage);
    const measured = this.#recentUse.atPeakUse(pods, shortage, this.#startedAtMs);
    const known = await withoutDoubt(input, measured, { shortage, sinceMs: this.#startedAtMs });
    if (stopping.aborted) return [];
    if (!(await this.#thresholds.isMet(threshold))) return await this.#afterShortage(threshold, round);
    this.#reportAges(round);
    for (const candidate of rankPods(known, shortage))
      if (await this.#evictFor(threshold, candidate, round)) return [candidate.pod];
    logger.warn({ resource }, 'the eviction threshold is met, but none of the pods may be evicted');
    return [];
  }

  /** Removes unused containers and images. Returns true if no threshold is met afterwards. */
  async #reclaimFromNode({ signal }: Threshold, disks: NodeDisks): Promise<boolean> {
    return (await this.#run.reclaimer.reclaim(signal, disks.layout)) && (await this.#awaitSpace(disks)).length === 0;
  }

  #awaitSpace({ thresholds }: NodeDisks, evicted?: SpaceOfEvicted): Promise<Threshold[]> {
    const { input } = this.#run;
    const otherUse = () => currentDiskUse(input, input.activePods());
    return awaitSpace({ ...input, otherUse }, thresholds, evicted);
  }

  /** Evicts a pod that keeps causing shortages that end before it can be measured. */
  async #afterShortage(threshold: Threshold, round: Round): Promise<Pod[]> {
    const { activePods, logger } = this.#deps;
    const { signal } = threshold;
    logger.info({ resource: resourceOf(signal) }, 'the eviction threshold is no longer met, no pod was evicted');
    const { observations } = await this.#thresholds.judge();
    if (!this.#recentUse.countShortage(signal, performance.now())) return [];
    const shortage = shortageOf(threshold, round);
    const freed = shortage.missing - missingOf(threshold, observations);
    const candidate = this.#recentUse.mostUnsteady(activePods(), shortage, freed);
    return candidate !== undefined && (await this.#evictFor(threshold, candidate, round)) ? [candidate.pod] : [];
  }

  #reportAges({ judgement, observations }: Round): void {
    for (const { signal } of judgement.pressing) {
      const ageMs = performance.now() - (observations.get(signal)?.atMs ?? performance.now());
      this.#deps.metrics?.statsAge(signal, ageMs / 1000);
    }
  }

  async #evictFor(threshold: Threshold, candidate: Candidate, { judgement, observations }: Round): Promise<boolean> {
    const { pressing } = judgement;
    if (!(await evictFor(this.#run.input, candidate, { threshold, pressing, observations }))) return false;
    this.#recentUse.forgetShortages();
    return true;
  }
}

function runOf(deps: EvictionManagerDependencies, recentUse: RecentUse, stopping: AbortSignal): Run {
  const input = { ...deps, rankMs: deps.rankMs ?? EVICTION_RANK_MS, recentUse, stopping };
  const podStats = (pods: readonly Pod[]) => {
    const late = AbortSignal.any([stopping, AbortSignal.timeout(EVICTION_RANK_MS)]);
    return deps.podStats(pods, { disk: true, fresh: false }, late);
  };
  return { input, limits: new StorageLimits({ ...deps, podStats }, stopping), reclaimer: new NodeReclaimer(input) };
}

function shortageOf(threshold: Threshold, { disks, observations }: Round): Shortage {
  return {
    signal: threshold.signal,
    layout: disks.layout,
    missing: missingOf(threshold, observations),
    used: usedOf(threshold, observations),
  };
}
