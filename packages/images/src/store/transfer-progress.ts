import { type Broadcast, errorMessage } from '@podwright/base';
import type { TransferProgress } from './image-service.ts';

/** Minimum interval between two progress reports of a transfer within the same phase. */
const INTERVAL_MS = 100;

/** Tracks and publishes the progress of a pull or load: every phase change, and byte counts at most ten times a second. */
export class TransferTracker {
  readonly #broadcast: Broadcast<TransferProgress>;
  readonly #bytes = new Map<string, number>();
  readonly #progress: TransferProgress;
  #publishedAtMs = 0;

  constructor(broadcast: Broadcast<TransferProgress>, reference: string) {
    this.#broadcast = broadcast;
    this.#progress = { reference, phase: 'resolving', doneBytes: 0, totalBytes: 0, layersDone: 0, layersTotal: 0 };
    this.#publish();
  }

  /** Starts the download phase for these blobs. Resets the counts, because a file with several images has several such phases. */
  startDownloads(blobs: { digest: string; size: number }[], layersTotal: number): void {
    this.#bytes.clear();
    this.#progress.doneBytes = 0;
    this.#progress.layersDone = 0;
    const sizes = new Map(blobs.map(({ digest, size }) => [digest, size]));
    this.#progress.totalBytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
    this.#progress.layersTotal = layersTotal;
    this.#setPhase('downloading');
  }

  /** Sets the number of bytes fetched so far of one of the blobs. */
  setBlobBytes(digest: string, bytes: number): void {
    this.#progress.doneBytes += bytes - (this.#bytes.get(digest) ?? 0);
    this.#bytes.set(digest, bytes);
    if (performance.now() - this.#publishedAtMs >= INTERVAL_MS) this.#publish();
  }

  finishDownloads(): void {
    this.#setPhase('unpacking');
  }

  finishLayer(): void {
    this.#progress.layersDone++;
    this.#publish();
  }

  finish(): void {
    this.#setPhase('done');
  }

  fail(error: unknown): void {
    this.#progress.error = errorMessage(error);
    this.#setPhase('failed');
  }

  #setPhase(phase: TransferProgress['phase']): void {
    this.#progress.phase = phase;
    this.#publish();
  }

  #publish(): void {
    this.#publishedAtMs = performance.now();
    this.#broadcast.publish({ ...this.#progress });
  }
}
