/** What pods used at recent shortages: a pod may have freed what it had before it is measured for an eviction. */
import type { Pod } from '@podwright/kube-api';
import { conditionOf, isOfDisk, type PressureCondition, type Signal } from '@podwright/kubelet-configuration';
import type { PodStatsByDisk } from '../stats/pod-stats.ts';
import { type Candidate, type Shortage, useOf } from './rank-pods.ts';

/** After so many shortages that ended, or that no pod explained, a pod is evicted for the last one all the same. */
const EVICTION_SHORTAGES = 3;

/** At most so many measurements are kept. */
const EVICTION_MEASUREMENTS = 30;

/** How long the use of pods at a shortage counts at the next one; for unsteady pods it is at least twice the transition period. */
const EVICTION_RECENT_MS = 120_000;

type Resource = Omit<Shortage, 'missing'>;
type Measurement = { atMs: number; byUid: ReadonlyMap<string, PodStatsByDisk> };

/** Times are monotonic milliseconds. */
export class RecentUse {
  readonly #keptMs: number;
  #measurements: Measurement[] = [];
  #shortages: { condition: PressureCondition; atMs: number }[] = [];

  /** A condition lasts as long as its shortages follow each other within `transitionMs`. */
  constructor(transitionMs: number) {
    this.#keptMs = Math.max(EVICTION_RECENT_MS, 2 * transitionMs);
  }

  add(stats: readonly PodStatsByDisk[], atMs: number): void {
    const measurement = { atMs, byUid: new Map(stats.map((one) => [one.podRef.uid, one])) };
    this.#measurements = [...this.#measurements.filter((one) => atMs - one.atMs < this.#keptMs), measurement].slice(
      -EVICTION_MEASUREMENTS,
    );
  }

  /** Counts a shortage that ended, or that no pod explained. Returns whether there were so many of late that a pod is to be evicted. */
  countShortage(signal: Signal, atMs: number): boolean {
    const condition = conditionOf(signal);
    this.#shortages = [...this.#shortages.filter((one) => atMs - one.atMs < this.#keptMs), { condition, atMs }].slice(
      -EVICTION_MEASUREMENTS,
    );
    return this.#shortages.filter((one) => one.condition === condition).length >= EVICTION_SHORTAGES;
  }

  /** After an eviction shortages are counted from zero. */
  forgetShortages(): void {
    this.#shortages = [];
  }

  /** The pods, each with the measurement of the last two minutes in which it used most. */
  atTheirMost(pods: readonly Pod[], resource: Resource, nowMs: number): Candidate[] {
    const recent = this.#measurements.filter(({ atMs }) => nowMs - atMs < EVICTION_RECENT_MS);
    return pods.map((pod) => ({ pod, stats: byUse(pod, recent, resource).at(-1) }));
  }

  /**
   * The pod of which the use changed most from one shortage to the next, if without that change there would have been no shortage, and
   * if pods, not the host, had at least half of what was freed since.
   */
  mostUnsteady(pods: readonly Pod[], shortage: Shortage, freed: bigint): Candidate | undefined {
    const changes = pods.flatMap((pod) => {
      const measured = byUse(pod, this.#measurements, shortage);
      const [least, most] = [measured[0], measured.at(-1)];
      if (least === undefined || most === undefined) return [];
      return [{ pod, stats: most, change: useOf(most, shortage) - useOf(least, shortage) }];
    });
    const ofPods = changes.reduce((sum, { change }) => sum + change, 0n);
    const [first] = changes.toSorted((a, b) => (a.change < b.change ? 1 : a.change > b.change ? -1 : 0));
    if (first === undefined || first.change < shortage.missing || ofPods < freed / 2n) return undefined;
    return { pod: first.pod, stats: first.stats };
  }
}

/**
 * The complete measurements of a pod, the one with the least use first; of equal ones the oldest. One for memory lacks the disks, and
 * one lacks volumes of which the first walk lasts.
 */
function byUse({ metadata }: Pod, measurements: readonly Measurement[], resource: Resource): PodStatsByDisk[] {
  const own = measurements.flatMap(({ byUid }) => byUid.get(metadata.uid) ?? []);
  const measured = own.filter(({ disks }) => disks !== undefined || !isOfDisk(resource.signal));
  const volumes = Math.max(...measured.map(volumeCount));
  const complete = measured.filter((one) => !isOfDisk(resource.signal) || volumeCount(one) === volumes);
  return complete.toSorted((a, b) => Number(useOf(a, resource) - useOf(b, resource)));
}

const volumeCount = ({ volume }: PodStatsByDisk) => volume?.length ?? 0;
