/** Observes the node's eviction signals and evaluates the thresholds that apply to the node. */
import { type Logger, pause } from '@podwright/base';
import {
  type DiskLayout,
  type Judgement,
  judgeThresholds,
  NOTHING_MET,
  type NodePressure,
  type Observations,
  type Signal,
  type Threshold,
  type ThresholdMemory,
  thresholdInWords,
  thresholdsMet,
  withContainerFs,
} from '@podwright/kubelet-configuration';
import { nextLookMs } from './next-look.ts';
import type { NodeSignals } from './node-signals.ts';

export type NodeThresholdsDependencies = {
  thresholds: readonly Threshold[];
  /** How long a pressure condition persists after it was last observed (`evictionPressureTransitionPeriod`). */
  transitionMs: number;
  signals: Pick<NodeSignals, 'diskLayout' | 'observe' | 'observeDisks'>;
  pressure: NodePressure;
  logger: Logger;
};

/** The disk layout, which is detected only once, and the thresholds that apply to it. */
export type NodeDisks = { layout: DiskLayout; thresholds: readonly Threshold[] };

/** The observations of an eviction round, and the thresholds that were met. */
export type Round = { disks: NodeDisks; observations: Observations; judgement: Judgement };

export class NodeThresholds {
  readonly #deps: NodeThresholdsDependencies;
  #memory: ThresholdMemory = NOTHING_MET;
  #disks: NodeDisks | undefined;
  /** Observations of the eviction signals from the last round; `#earlier` holds those from the round before. */
  #observations: Observations = new Map();
  #earlier: Observations = new Map();

  constructor(deps: NodeThresholdsDependencies) {
    this.#deps = deps;
  }

  /** The disks and signal observations of the last round; `undefined` before the first one. */
  get last(): Pick<Round, 'disks' | 'observations'> | undefined {
    return this.#disks && { disks: this.#disks, observations: this.#observations };
  }

  /**
   * Runs an observation round: observes the signals, evaluates the thresholds, and sets the node's pressure conditions. Rejects with the
   * container runtime's error.
   */
  async judge(): Promise<Round> {
    const { signals, pressure, logger, transitionMs } = this.#deps;
    this.#disks ??= await this.#detectDisks();
    const { layout, thresholds } = this.#disks;
    const observations = await signals.observe();
    this.#earlier = this.#observations;
    this.#observations = observations;
    const nowMs = performance.now();
    const judgement = judgeThresholds(this.#memory, { thresholds, observations, nowMs, transitionMs });
    this.#memory = judgement.memory;
    const reported = [...judgement.memory.metSinceMs.keys()].filter(({ signal }) => isReported(signal, layout));
    const reasons = reported.map((one) => thresholdInWords(one, observations));
    if (reasons.length > 0) logger.debug({ reasons, conditions: judgement.conditions }, 'eviction thresholds are met');
    pressure.set(judgement.conditions, reasons);
    return { disks: this.#disks, observations, judgement };
  }

  /** Observes the signals again. Returns true if the given threshold is met or its minimum reclaim has not been freed yet. */
  async isMet(threshold: Threshold): Promise<boolean> {
    return thresholdsMet([threshold], await this.#deps.signals.observe(), { withReclaim: true }).length > 0;
  }

  /**
   * Waits until `periodMs` have passed, a disk crosses a threshold, or the signal aborts. The faster a disk fills up, the more often it is
   * checked.
   */
  async untilDue(periodMs: number, signal: AbortSignal): Promise<void> {
    const thresholds = this.#disks?.thresholds.filter((one) => !this.#memory.metSinceMs.has(one)) ?? [];
    const untilMs = performance.now() + periodMs;
    let [before, now] = [this.#earlier, this.#observations];
    while (!signal.aborted && thresholdsMet(thresholds, now, { withReclaim: false }).length === 0) {
      const leftMs = untilMs - performance.now();
      const pauseMs = nextLookMs(thresholds, { before, now }, leftMs);
      await pause(pauseMs, signal);
      if (pauseMs === leftMs) return;
      [before, now] = [now, await this.#deps.signals.observeDisks()];
    }
  }

  async #detectDisks(): Promise<NodeDisks> {
    const { signals, thresholds, logger } = this.#deps;
    const layout = await signals.diskLayout();
    for (const { signal } of thresholds.filter((one) => one.signal.startsWith('containerfs.')))
      logger.warn({ signal }, 'the containerfs threshold is ignored: it follows that of nodefs or imagefs');
    return { layout, thresholds: withContainerFs(thresholds, layout) };
  }
}

/** containerfs signals are reported only if container layers have their own file system; otherwise they duplicate nodefs or imagefs. */
const isReported = (signal: Signal, layout: DiskLayout) => layout === 'split' || !signal.startsWith('containerfs.');
