import { KeyedLock } from '@podwright/base';
import { type StorageMetrics, timed } from '../volumes/storage-metrics.ts';
import { metricName, uniqueVolumeName } from './csi-volume.ts';
import { RetryGate } from './retry-gate.ts';
import type { PlacedVolume, VolumeExpansion } from './volume-expansion.ts';

type Attempt = { stop: AbortController; ended: Promise<void> };

/**
 * Expansion of volumes, one after the other of each. Before a pod gets its volume it waits for that; under a pod that has it nobody
 * does: a driver or an API server that hangs holds up no container. What an attempt failed with is told by the next look.
 */
export class GrowthUnderPods {
  readonly #expansion: VolumeExpansion;
  readonly #metrics: StorageMetrics | undefined;
  readonly #locks = new KeyedLock();
  readonly #tries = new RetryGate();
  /** Those under way, by volumes. */
  readonly #attempts = new Map<string, Attempt>();
  /** What the last attempts failed with. */
  readonly #failures = new Map<string, unknown>();

  constructor({ expansion, metrics }: { expansion: VolumeExpansion; metrics?: StorageMetrics }) {
    this.#expansion = expansion;
    this.#metrics = metrics;
  }

  /** Before a pod gets the volume. */
  beforeUse(placed: PlacedVolume, signal: AbortSignal): Promise<void> {
    const key = uniqueVolumeName(placed.volume);
    return this.#locks.run(key, () => this.#expansion.beforeUse(placed, signal), signal);
  }

  /** Begins what is due of a volume that a pod has. Returns what the last attempt failed with, if it is still due. */
  look(placed: PlacedVolume): unknown {
    const key = uniqueVolumeName(placed.volume);
    if (!this.#expansion.isDue(placed)) {
      this.#failures.delete(key);
      return undefined;
    }
    if (!this.#attempts.has(key)) this.#begin(key, placed);
    return this.#failures.get(key);
  }

  /** Before the volume is taken from a pod: what is under way may be by its path. Other pods' looks begin it anew. */
  async end(key: string): Promise<void> {
    const attempt = this.#attempts.get(key);
    attempt?.stop.abort();
    await attempt?.ended;
  }

  /** The node has it no more. */
  forget(key: string): void {
    this.#expansion.forget(key);
    this.#tries.forget(key);
    this.#failures.delete(key);
  }

  /** Lets everything of a driver be tried at once. */
  release(driver: string): void {
    this.#tries.release(driver);
  }

  #begin(key: string, placed: PlacedVolume): void {
    const { driver } = placed.volume;
    const stop = new AbortController();
    const { signal } = stop;
    const operation = { plugin: metricName(placed.volume), name: 'volume_fs_resize' };
    const grow = async () => {
      // a pod that got it meanwhile may have been first
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
