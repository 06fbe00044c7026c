import { KeyedLock } from '@podwright/base';
import { uniqueVolumeName } from '@podwright/kube-api';
import { type StorageMetrics, timed } from '../volumes/storage-metrics.ts';
import { metricName } from './csi-volume.ts';
import { RetryGate } from './retry-gate.ts';
import type { PlacedVolume, VolumeExpansion } from './volume-expansion.ts';

type Attempt = { stop: AbortController; ended: Promise<void> };

/**
 * Expands volumes, with at most one attempt per volume at a time. A pod that does not use its volume yet waits for the expansion. For a pod
 * that does, the expansion runs in the background, so that a hung driver or API server does not delay containers; if it fails, the next
 * `check` returns its error.
 */
export class GrowthUnderPods {
  readonly #expansion: VolumeExpansion;
  readonly #metrics: StorageMetrics | undefined;
  readonly #locks = new KeyedLock();
  readonly #tries = new RetryGate();
  /** Attempts in progress, by unique volume name. */
  readonly #attempts = new Map<string, Attempt>();
  /** Errors of the last attempts, by unique volume name. */
  readonly #failures = new Map<string, unknown>();

  constructor({ expansion, metrics }: { expansion: VolumeExpansion; metrics?: StorageMetrics }) {
    this.#expansion = expansion;
    this.#metrics = metrics;
  }

  /** Expands the volume if necessary, before the pod uses it. */
  beforeUse(placed: PlacedVolume, signal: AbortSignal): Promise<void> {
    const key = uniqueVolumeName(placed.volume);
    return this.#locks.run(key, () => this.#expansion.beforeUse(placed, signal), signal);
  }

  /** Starts the expansion of a volume in use if needed. Until it has succeeded, returns the last attempt's error. */
  check(placed: PlacedVolume): unknown {
    const key = uniqueVolumeName(placed.volume);
    if (!this.#expansion.isDue(placed)) {
      this.#failures.delete(key);
      return undefined;
    }
    if (!this.#attempts.has(key)) this.#begin(key, placed);
    return this.#failures.get(key);
  }

  /**
   * Aborts an attempt in progress before the volume is unpublished, because the driver may be using its path. The next `check` for another
   * pod starts it again.
   */
  async end(key: string): Promise<void> {
    const attempt = this.#attempts.get(key);
    attempt?.stop.abort();
    await attempt?.ended;
  }

  /** Drops a volume's back-off and the error of its last attempt. Must be called when the volume has left the node. */
  forget(key: string): void {
    this.#expansion.forget(key);
    this.#tries.forget(key);
    this.#failures.delete(key);
  }

  /** Ends the back-off for all of a driver's volumes. */
  release(driver: string): void {
    this.#tries.release(driver);
  }

  #begin(key: string, placed: PlacedVolume): void {
    const { driver } = placed.volume;
    const stop = new AbortController();
    const { signal } = stop;
    const operation = { plugin: metricName(placed.volume), name: 'volume_fs_resize' };
    const grow = async () => {
      // the volume may already have been expanded for another pod
      if (!this.#expansion.isDue(placed)) return;
      await timed(this.#metrics, operation, () => this.#expansion.inUse(placed, signal));
    };
    const work = () => this.#locks.run(key, grow, signal);
    const ended = this.#tries
      .run(key, { driver, signal }, work)
      .then(
        () => void this.#failures.delete(key),
        (error: unknown) => void (signal.aborted || this.#failures.set(key, error)),
      )
      .finally(() => this.#attempts.delete(key));
    this.#attempts.set(key, { stop, ended });
  }
}
