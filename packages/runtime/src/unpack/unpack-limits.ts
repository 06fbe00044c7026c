import { statfsSync } from 'node:fs';
import { PodwrightError } from '@podwright/base';

/** More bytes than any layer has; what the disk has free is the bound that matters. */
export const DEFAULT_MAX_BYTES = 2 ** 40;
/** Entries of the largest images are below a million. */
export const MAX_ENTRIES = 2_000_000;
/** The disk's space is looked at again after so many bytes. */
const CHECK_EVERY_BYTES = 64 << 20;
/** What an unpacking leaves free, so that a bomb does not take the host down with it. */
const RESERVE_BYTES = 64 << 20;
const RESERVE_SHARE = 0.02;

/** Bounds what a layer may unpack to: bytes of the stream, entries, and the space of the disk. */
export class UnpackLimits {
  readonly #directory: string;
  readonly #maxBytes: number;
  #bytes = 0;
  #uncheckedBytes = CHECK_EVERY_BYTES;
  entries = 0;

  constructor(directory: string, maxBytes: number) {
    this.#directory = directory;
    this.#maxBytes = maxBytes;
  }

  /** Counts bytes of the uncompressed stream; throws `resource_exhausted` over a limit. */
  addBytes(count: number): void {
    this.#bytes += count;
    this.#uncheckedBytes += count;
    if (this.#bytes > this.#maxBytes) throw exhausted(`it has more than the ${this.#maxBytes} bytes that are allowed`);
    if (this.#uncheckedBytes >= CHECK_EVERY_BYTES) this.#checkDisk();
  }

  addEntry(): void {
    if (++this.entries > MAX_ENTRIES) throw exhausted(`it has more than ${MAX_ENTRIES} entries`);
  }

  #checkDisk(): void {
    this.#uncheckedBytes = 0;
    const { bavail, blocks, bsize } = statfsSync(this.#directory);
    const reserve = Math.min(RESERVE_BYTES, blocks * bsize * RESERVE_SHARE);
    if (bavail * bsize < reserve) {
      throw exhausted(`the disk of ${this.#directory} has only ${bavail * bsize} bytes free; make room and try again`);
    }
  }
}

function exhausted(message: string): PodwrightError {
  return new PodwrightError('resource_exhausted', `unpack layer: ${message}`);
}
