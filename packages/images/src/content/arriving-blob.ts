import { PodwrightError, raceAbort } from '@podwright/base';

/**
 * A blob whose file is being written: its bytes can be read as they come. They are not verified before all of them are there,
 * and may turn out to be wrong: `failed` is aborted then, or when no more come from this attempt.
 */
export class ArrivingBlob {
  /** The file, as long as it is being written. */
  readonly path: string;
  readonly sizeBytes: number;
  readonly #failure = new AbortController();
  readonly #listeners = new Set<(bytes: number) => void>();
  readonly #filled = Promise.withResolvers<void>();
  #bytes = 0;

  constructor(path: string, sizeBytes: number) {
    this.path = path;
    this.sizeBytes = sizeBytes;
  }

  get failed(): AbortSignal {
    return this.#failure.signal;
  }

  /** Calls `listener` with the bytes that are in the file, now and whenever they become more. Returns what ends that. */
  onGrowth(listener: (bytes: number) => void): () => void {
    this.#listeners.add(listener);
    listener(this.#bytes);
    return () => void this.#listeners.delete(listener);
  }

  /** Resolves when all bytes are in the file, verified or not. */
  filled(signal: AbortSignal): Promise<void> {
    return raceAbort(this.#filled.promise, signal);
  }

  /** For who writes: so many bytes are in the file. */
  grow(bytes: number): void {
    this.#bytes = bytes;
    for (const listener of this.#listeners) listener(bytes);
    if (bytes === this.sizeBytes) this.#filled.resolve();
  }

  /** For who writes: the bytes are not the blob, or no more come. */
  fail(): void {
    this.#failure.abort(new PodwrightError('aborted', 'the transfer of the blob ended before it was whole'));
  }
}
