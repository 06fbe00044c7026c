/**
 * Enforces local storage limits on pods that keep changing files by measuring them while frozen. Otherwise, such a pod could move its files
 * out of the way of each measurement.
 */
import { errorMessage, type Logger } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';
import type { DiskLayout } from '@podwright/kubelet-configuration';
import { emptyDirOverLimit, type LocalStorageExcess, storageExcess } from './local-storage.ts';
import { measureFrozenInTime } from './measure-frozen.ts';
import type { MeasureFrozen } from './measure-pods.ts';

/** Mean time between two frozen measurements of a pod, with a jitter of ±50 % so that the pod cannot predict them. */
const FROZEN_PERIOD_MS = 60_000;
/** Pause before a pod is frozen again because the first freeze was too short. */
const FROZEN_AGAIN_MS = 5000;
/** A pod is frozen for at most 1/100 of the time. */
const FROZEN_SHARE = 100;
/** Maximum duration of a pod's first freeze and, if that was too short, of later ones, in milliseconds. */
const FROZEN_MS = { first: 300, next: 1500 };

export type FrozenLimitsDependencies = {
  frozenPodStats: MeasureFrozen;
  isExempt: (pod: Pod) => boolean;
  logger: Logger;
};

type Turn = { atMs: number; maxMs: number };

export class FrozenLimits {
  readonly #deps: FrozenLimitsDependencies;
  readonly #stopping: AbortSignal;
  /**
   * Pods that might exceed a limit although no measurement has shown it, because their files could have been moved during the measurement,
   * by UID.
   */
  readonly #doubtful = new Map<string, Pod>();
  /** When each pod may next be frozen, by UID (monotonic). */
  readonly #turns = new Map<string, Turn>();

  constructor(deps: FrozenLimitsDependencies, stopping: AbortSignal) {
    this.#deps = deps;
    this.#stopping = stopping;
  }

  /** Notes a pod whose files might have been moved while they were being measured, so that the pod is measured again while frozen. */
  note(pod: Pod): void {
    if (!this.#deps.isExempt(pod)) this.#doubtful.set(pod.metadata.uid, pod);
  }

  /** Drops all noted pods except the given ones. */
  keep(pods: readonly Pod[]): void {
    const uids = new Set(pods.map(({ metadata }) => metadata.uid));
    for (const map of [this.#doubtful, this.#turns]) for (const uid of map.keys()) if (!uids.has(uid)) map.delete(uid);
  }

  /** Measures the noted pods that may be frozen again, one at a time. Never rejects. */
  async check(layout: DiskLayout, onExcess: (pod: Pod, excess: LocalStorageExcess) => void): Promise<void> {
    for (const [uid, pod] of [...this.#doubtful]) {
      const { atMs, maxMs } = this.#turns.get(uid) ?? { atMs: 0, maxMs: FROZEN_MS.first };
      const startedAtMs = performance.now();
      if (this.#stopping.aborted || startedAtMs < atMs) continue;
      this.#doubtful.delete(uid);
      const found = await measureFrozenInTime({ ...this.#deps, stopping: this.#stopping }, pod, maxMs).catch(
        (error: unknown) => {
          const fields = { pod: pod.metadata.name, error: errorMessage(error) };
          this.#deps.logger.debug(fields, 'a frozen pod could not be measured');
          return undefined;
        },
      );
      const tookMs = performance.now() - startedAtMs;
      const isTooShort = found?.stats.isPartial === true && maxMs < FROZEN_MS.next;
      const pauseMs = Math.max(FROZEN_PERIOD_MS * (0.5 + Math.random()), tookMs * FROZEN_SHARE);
      if (isTooShort) this.#turns.set(uid, { atMs: performance.now() + FROZEN_AGAIN_MS, maxMs: FROZEN_MS.next });
      else this.#turns.set(uid, { atMs: performance.now() + pauseMs, maxMs });
      const excess =
        found &&
        (storageExcess(pod, found.stats, layout) ?? emptyDirOverLimit(pod, (name) => found.emptyDirs.get(name)));
      if (excess !== undefined) onExcess(pod, excess);
    }
  }
}
