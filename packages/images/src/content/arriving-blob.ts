import { PodwrightError, raceAbort } from '@podwright/base';

/**
 * A blob that is still being downloaded. Its bytes can be read as they are written to the file, but are unverified until the blob is
 * complete. `failed` aborts if they turn out to be wrong or the attempt ends early.
 */
export class ArrivingBlob {
  /** Path of the file while it is being written. */
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

  /** Calls `listener` with the file's size, now and whenever the file grows. Returns a function that unsubscribes the listener. */
  onGrowth(listener: (bytes: number) => void): () => void {
    this.#listeners.add(listener);
    listener(this.#bytes);
    return () => void this.#listeners.delete(listener);
  }

  /** Resolves once the file contains all bytes of the blob, even if they have not been verified yet. */
  filled(signal: AbortSignal): Promise<void> {
    return raceAbort(this.#filled.promise, signal);
  }

  /** Called by the writer when the file has grown to this number of bytes. */
  grow(bytes: number): void {
    this.#bytes = bytes;
    for (const listener of this.#listeners) listener(bytes);
    if (bytes === this.sizeBytes) this.#filled.resolve();
  }

  /** Called by the writer if the bytes are wrong or no more will follow. */
  fail(): void {
    this.#failure.abort(new PodwrightError('aborted', 'the transfer of the blob ended before it was complete'));
  }
}
