/** Evicts pods when their node runs short: upstream's eviction manager (pkg/kubelet/eviction/eviction_manager.go). */
import { errorMessage, type Logger, raceAbort, sleep } from '@podwright/base';
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
import { evictionMessage } from './eviction-message.ts';
import { type Judgement, judgeThresholds, NOTHING_MET, type ThresholdMemory } from './judge-thresholds.ts';
import {
  emptyDirExcess,
  hasStorageLimit,
  type LocalStorageExcess,
  storageExcess,
  type VolumeFiles,
} from './local-storage.ts';
import { nextLookMs } from './next-look.ts';
import type { NodeSignals } from './node-signals.ts';
import { missingOf, type Observations, thresholdInWords, thresholdsMet } from './observed-signals.ts';
import { type Candidate, rankPods, type Shortage, useOf } from './rank-pods.ts';
import { RecentUse } from './recent-use.ts';

/** How long a round waits for volumes to be measured; what is found later is left to a later one. */
const EVICTION_MEASURE_MS = 1000;

/** Files are still being removed until so many looks on end found no more free. */
const EVICTION_LOOKS_IN_VAIN = 4;

const EVICTION_CLEAN_UP_LOOK_MS = 250;

/** How long the end of an evicted pod is waited for before the next look, and how often it is looked for (podCleanupTimeout, podCleanupPollFreq). */
const EVICTION_CLEAN_UP_MS = 30_000;

/** Upstream's immediate eviction: hooks before the stop may still begin. */
const EVICTION_GRACE_SECONDS = 1;

/** How a pod is evicted. */
export type PodEviction = { verdict: PodVerdict; gracePeriodSeconds: number };

/** What can be freed without ending a pod; each rejects with what went wrong. */
export type NodeReclaim = {
  /** Removes all containers that have ended, also those of pods that are still to be seen. */
  deleteUnusedContainers(signal: AbortSignal): Promise<void>;
  /** Removes all images that no container has. */
  deleteUnusedImages(): Promise<void>;
};

export type EvictionManagerDependencies = {
  thresholds: readonly Threshold[];
  /** A condition is told for so long after it was last seen. */
  transitionMs: number;
  /** The longest grace period of a pod that is evicted for a soft threshold. */
  maxPodGraceSeconds: number;
  periodMs: number;
  nodeName: string;
  signals: Pick<NodeSignals, 'diskLayout' | 'observe' | 'observeDisks'>;
  pressure: NodePressure;
  /** Pods of which something runs or may begin, with the amounts that they have. */
  activePods: () => Pod[];
  /**
   * What these use, with `disk` also of the node's disks, as far as that is known when the signal aborts; with `fresh` as it is now,
   * else as it was a while ago.
   */
  podStats: (
    pods: readonly Pod[],
    what: { disk: boolean; fresh: boolean },
    signal: AbortSignal,
  ) => Promise<PodStatsByDisk[]>;
  volumeFiles: (podUid: string) => VolumeFiles;
  isExempt: (pod: Pod) => boolean;
  reclaim: NodeReclaim;
  /** Ends the pod as failed; resolves when nothing of it runs, or the signal aborts, and rejects when that takes too long. */
  evict: (pod: Pod, eviction: PodEviction, signal: AbortSignal) => Promise<void>;
  /** Whether the node has back all that the pod held. */
  isCleanedUp: (pod: Pod) => boolean;
  events: EventRecorder;
  metrics?: { evicted(signal: string): void; statsAge(signal: string, seconds: number): void };
  logger: Logger;
};

/** Where the disks are, which is found out once, and the thresholds that follow from that. */
type Disks = { layout: DiskLayout; thresholds: readonly Threshold[] };

/** What one round has found. */
type Round = { disks: Disks; observations: Observations; judgement: Judgement };

type Ended = PodEviction & { annotations?: Record<string, string> };

/** Looks at the node now and then. What a round cannot find out is left to the next one; an eviction is followed by another look at once. */
export class EvictionManager {
  readonly #deps: EvictionManagerDependencies;
  #memory: ThresholdMemory = NOTHING_MET;
  #disks: Disks | undefined;
  /** What the last round has seen, and the one before it. */
  #observations: Observations = new Map();
  #earlier: Observations = new Map();
  #stopping = new AbortController().signal;
  /** The measuring of pods that is under way, and what was found since the last round. */
  #measuring: Promise<void> | undefined;
  #excesses = new Map<Pod, LocalStorageExcess>();
  readonly #recentUse: RecentUse;

  constructor(deps: EvictionManagerDependencies) {
    this.#deps = deps;
    this.#recentUse = new RecentUse(deps.transitionMs);
  }

  /** Until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    this.#stopping = signal;
    let problem = '';
    while (!signal.aborted) {
      let evicted: Pod[] = [];
      try {
        evicted = await this.synchronize();
        problem = '';
      } catch (error) {
        if (errorMessage(error) !== problem)
          this.#deps.logger.warn({ error: errorMessage(error) }, 'what the node is short of could not be looked at');
        problem = errorMessage(error);
      }
      if (evicted.length === 0) await this.#untilNextRound(signal);
      else await this.#cleanUp(evicted, signal);
    }
    await this.#measuring?.catch(() => undefined);
  }

  /** A period, or until a disk has come below a threshold: the faster one fills, the more often that is looked for. */
  async #untilNextRound(signal: AbortSignal): Promise<void> {
    const { periodMs, signals } = this.#deps;
    const thresholds = this.#disks?.thresholds.filter((one) => !this.#memory.metSinceMs.has(one)) ?? [];
    const untilMs = performance.now() + periodMs;
    let [before, now] = [this.#earlier, this.#observations];
    while (!signal.aborted && thresholdsMet(thresholds, now, { withReclaim: false }).length === 0) {
      const leftMs = untilMs - performance.now();
      const pauseMs = nextLookMs(thresholds, { before, now }, leftMs);
      await sleep(pauseMs, signal).catch(() => undefined);
      if (pauseMs === leftMs) return;
      [before, now] = [now, await signals.observeDisks()];
    }
  }

  /** One round: at most one pod is evicted for the node's sake, and all that exceed their own limits. Resolves with those. */
  async synchronize(): Promise<Pod[]> {
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
    const told = [...judgement.memory.metSinceMs.keys()].filter(({ signal }) => isTold(signal, disks.layout));
    const reasons = told.map((one) => thresholdInWords(one, observations));
    if (reasons.length > 0)
      logger.debug({ reasons, conditions: judgement.conditions }, 'the node is short of something');
    pressure.set(judgement.conditions, reasons);
    return { disks, observations, judgement };
  }

  async #knownDisks(): Promise<Disks> {
    const { signals, thresholds, logger } = this.#deps;
    if (this.#disks !== undefined) return this.#disks;
    const layout = await signals.diskLayout();
    for (const { signal } of thresholds.filter((one) => one.signal.startsWith('containerfs.')))
      logger.warn({ signal }, 'the threshold is ignored: it is that of nodefs or imagefs');
    this.#disks = { layout, thresholds: withContainerFs(thresholds, layout) };
    return this.#disks;
  }

  /** Walks through volumes take as long as pods make them: what is not found in a moment is left to a later round. */
  async #enforceStorageLimits(disks: Disks): Promise<Pod[]> {
    const pods = this.#deps.activePods();
    this.#measuring ??= this.#measure(pods, disks).finally(() => {
      this.#measuring = undefined;
    });
    const moment = AbortSignal.any([this.#stopping, AbortSignal.timeout(EVICTION_MEASURE_MS)]);
    await raceAbort(this.#measuring, moment).catch((error: unknown) => {
      if (!moment.aborted) throw error;
    });
    const found = this.#excesses;
    this.#excesses = new Map();
    const evicted: Pod[] = [];
    for (const [pod, { signal, message }] of found)
      if (await this.#evict(pod, signal, hard({ reason: 'Evicted', message }))) evicted.push(pod);
    return evicted;
  }

  async #measure(pods: Pod[], { layout }: Disks): Promise<void> {
    const { podStats } = this.#deps;
    const limited = pods.filter(hasStorageLimit);
    const stats = limited.length === 0 ? [] : await podStats(limited, { disk: true, fresh: false }, this.#stopping);
    const byUid = new Map(stats.map((one) => [one.podRef.uid, one]));
    for (const pod of pods) {
      if (this.#stopping.aborted) return;
      const own = byUid.get(pod.metadata.uid);
      const excess =
        (await this.#emptyDirExcess(pod)) ?? (own === undefined ? undefined : storageExcess(pod, own, layout));
      if (excess !== undefined) this.#excesses.set(pod, excess);
    }
  }

  async #emptyDirExcess(pod: Pod): Promise<LocalStorageExcess | undefined> {
    try {
      return await emptyDirExcess(pod, this.#deps.volumeFiles(pod.metadata.uid), this.#stopping);
    } catch (error) {
      const told = { pod: namespacedName(pod), error: errorMessage(error) };
      this.#deps.logger.debug(told, 'an emptyDir could not be measured');
      return undefined;
    }
  }

  async #reclaim(threshold: Threshold, round: Round): Promise<Pod[]> {
    const { events, nodeName, logger, activePods } = this.#deps;
    const resource = resourceOf(threshold.signal);
    events.event(nodeSubject(nodeName), 'Warning', 'EvictionThresholdMet', `Attempting to reclaim ${resource}`);
    const isOver = !(await this.#isMet(threshold)) || (await this.#reclaimFromNode(threshold, round.disks));
    if (this.#stopping.aborted) return []; // what was being freed was not freed to its end
    const pods = activePods();
    if (pods.length === 0) {
      if (!isOver) logger.warn({ resource }, 'the node is short, and there is no pod to evict');
      return [];
    }
    await this.#measureUse(pods, threshold.signal, this.#stopping);
    if (isOver || !(await this.#isMet(threshold))) return await this.#afterShortage(threshold, round);
    const shortage = shortageOf(threshold, round);
    const candidates = this.#recentUse.atTheirMost(pods, shortage, performance.now());
    if (!isExplained(candidates, shortage) && !this.#recentUse.countShortage(threshold.signal, performance.now())) {
      logger.warn({ resource }, 'the node is short of more than all pods use: no pod is evicted yet');
      return [];
    }
    this.#reportAges(round);
    for (const candidate of rankPods(candidates, shortage))
      if (await this.#evictFor(threshold, candidate, round)) return [candidate.pod];
    logger.warn({ resource }, 'the node is short, and no pod of it may be evicted');
    return [];
  }

  /** Evicts a pod whose shortages end before it is found, and come back. */
  async #afterShortage(threshold: Threshold, round: Round): Promise<Pod[]> {
    const { signals, activePods, logger } = this.#deps;
    const { signal } = threshold;
    logger.info({ resource: resourceOf(signal) }, 'the node has enough again without an eviction');
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

  /** Measures the pods while they still have what the node is short of; volumes that take long are measured later. */
  async #measureAtOnce({ signal }: Threshold): Promise<void> {
    const moment = AbortSignal.any([this.#stopping, AbortSignal.timeout(EVICTION_MEASURE_MS)]);
    await this.#measureUse(this.#deps.activePods(), signal, moment).catch((error: unknown) =>
      this.#deps.logger.debug({ error: errorMessage(error) }, 'the pods could not be measured at once'),
    );
  }

  async #measureUse(pods: Pod[], signal: Threshold['signal'], stop: AbortSignal): Promise<void> {
    const stats = await this.#deps.podStats(pods, { disk: isOfDisk(signal), fresh: true }, stop);
    this.#recentUse.add(stats, performance.now());
  }

  /** Whether no threshold is met any more once what nobody uses is gone. */
  async #reclaimFromNode({ signal }: Threshold, disks: Disks): Promise<boolean> {
    const { reclaim, logger } = this.#deps;
    const steps = reclaimSteps(signal, disks.layout);
    for (const step of steps) {
      await reclaim[step](this.#stopping).catch((error: unknown) =>
        logger.warn({ step, error: errorMessage(error) }, 'not all could be freed that nobody uses'),
      );
    }
    if (steps.length === 0) return false;
    return (await this.#shortAfterAll(disks)).length === 0;
  }

  /** What is short once files that were removed are free, which happens in the background. */
  async #shortAfterAll({ thresholds }: Disks): Promise<Threshold[]> {
    const untilMs = performance.now() + EVICTION_CLEAN_UP_MS;
    const most = new Map<Threshold, bigint>();
    for (let looksInVain = 0; ; ) {
      const observations = await this.#deps.signals.observe();
      const met = thresholdsMet(thresholds, observations, { withReclaim: true });
      const onDisk = met.filter(({ signal }) => isOfDisk(signal));
      const freer = onDisk.filter((one) => observations.get(one.signal)!.available > (most.get(one) ?? -1n));
      for (const one of freer) most.set(one, observations.get(one.signal)!.available);
      looksInVain = freer.length > 0 ? 0 : looksInVain + 1;
      const isOver = looksInVain >= EVICTION_LOOKS_IN_VAIN || performance.now() > untilMs;
      if (onDisk.length === 0 || isOver || this.#stopping.aborted) return met;
      await sleep(EVICTION_CLEAN_UP_LOOK_MS, this.#stopping).catch(() => undefined);
    }
  }

  #graceSeconds({ spec }: Pod, threshold: Threshold): number {
    if (isHard(threshold)) return EVICTION_GRACE_SECONDS;
    const { maxPodGraceSeconds } = this.#deps;
    const wanted = Math.min(maxPodGraceSeconds, spec.terminationGracePeriodSeconds ?? maxPodGraceSeconds);
    return Math.max(EVICTION_GRACE_SECONDS, wanted);
  }

  /** False for a pod that may not be, or that has gone meanwhile. */
  async #evict(pod: Pod, signal: string, { annotations, ...eviction }: Ended): Promise<boolean> {
    const { isExempt, isCleanedUp, evict, events, metrics, logger } = this.#deps;
    if (isCleanedUp(pod)) return false;
    const told = { pod: namespacedName(pod), signal };
    if (isExempt(pod)) {
      logger.warn(told, 'a critical pod cannot be evicted');
      return false;
    }
    const { reason, message } = eviction.verdict;
    events.event({ ...eventSubject(pod), annotations }, 'Warning', reason, message);
    await evict(pod, eviction, this.#stopping).catch((error: unknown) =>
      logger.error({ ...told, error: errorMessage(error) }, 'a pod that is evicted goes on'),
    );
    metrics?.evicted(signal);
    return true;
  }

  async #cleanUp(pods: Pod[], signal: AbortSignal): Promise<void> {
    const untilMs = performance.now() + EVICTION_CLEAN_UP_MS;
    while (!signal.aborted && performance.now() < untilMs && !pods.every(this.#deps.isCleanedUp))
      await sleep(EVICTION_CLEAN_UP_LOOK_MS, signal).catch(() => undefined);
    if (this.#disks !== undefined) await this.#shortAfterAll(this.#disks).catch(() => undefined);
  }
}

const hard = (verdict: PodVerdict): PodEviction => ({ verdict, gracePeriodSeconds: EVICTION_GRACE_SECONDS });

function shortageOf(threshold: Threshold, { disks, observations }: Round): Shortage {
  return { signal: threshold.signal, layout: disks.layout, missing: missingOf(threshold, observations) };
}

/** Whether pods may have filled the disk that is short. A pod that was not measured may have; memory and processes wait for no proof. */
function isExplained(candidates: readonly Candidate[], shortage: Shortage): boolean {
  if (!isOfDisk(shortage.signal) || candidates.some(({ stats }) => stats === undefined)) return true;
  const used = candidates.reduce((sum, { stats }) => sum + useOf(stats!, shortage), 0n);
  return used >= shortage.missing;
}

/** Where what containers write is not by itself, the threshold of its disk is another one's, which is told. */
const isTold = (signal: Threshold['signal'], layout: DiskLayout) =>
  layout === 'split' || !signal.startsWith('containerfs.');

/** What is freed before a pod is evicted (buildSignalToNodeReclaimFuncs). Pure. */
export function reclaimSteps(signal: Threshold['signal'], layout: DiskLayout): (keyof NodeReclaim)[] {
  const [fileSystem] = signal.split('.');
  if (fileSystem === undefined || !['nodefs', 'imagefs', 'containerfs'].includes(fileSystem)) return [];
  if (layout === 'split') return fileSystem === 'imagefs' ? ['deleteUnusedImages'] : ['deleteUnusedContainers'];
  if (layout === 'images' && fileSystem === 'nodefs') return [];
  return ['deleteUnusedContainers', 'deleteUnusedImages'];
}
