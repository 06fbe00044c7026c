import { statfsSync } from 'node:fs';
import { PodwrightError } from '@podwright/base';
import { bytesForImages, bytesUntilNextLook, filesForImages, MAKE_ROOM } from '../content/disk-reserve.ts';
import { MAX_LAYER_ENTRIES, MAX_OVERHEAD_BYTES } from '../limits.ts';

/** The disk's space is looked at again after so many entries, too: empty files take some. */
const CHECK_EVERY_ENTRIES = 100;

/** Bounds what a layer may unpack to: bytes of the stream, entries, and the space of the disk. */
export class UnpackLimits {
  readonly #directory: string;
  readonly #maxBytes: number;
  #bytes = 0;
  #contentBytes = 0;
  /** Bytes until the disk's space is looked at again. */
  #uncheckedBytes = 0;
  entries = 0;

  constructor(directory: string, maxBytes: number) {
    this.#directory = directory;
    this.#maxBytes = maxBytes;
  }

  /** Bytes of all files' content so far. */
  get contentBytes(): number {
    return this.#contentBytes;
  }

  /** Counts bytes of the uncompressed stream; throws `resource_exhausted` over a limit. */
  addBytes(count: number): void {
    this.#bytes += count;
    this.#uncheckedBytes -= count;
    if (this.#bytes > this.#maxBytes) throw exhausted(`it has more than the ${this.#maxBytes} bytes that are allowed`);
    if (this.#bytes - this.#contentBytes > MAX_OVERHEAD_BYTES)
      throw exhausted(`it has more than ${MAX_OVERHEAD_BYTES} bytes that belong to no file`);
    if (this.#uncheckedBytes < 0) this.#checkDisk(0);
  }

  /** Counts those bytes of the stream that are a file's content. */
  addContent(count: number): void {
    this.#contentBytes += count;
  }

  /** Counts a file of a layer below that is to be copied: a few bytes of the stream ask for all of it. */
  addCopy(bytes: number): void {
    this.#contentBytes += bytes;
    this.#bytes += bytes;
    if (this.#bytes > this.#maxBytes) throw exhausted(`it has more than the ${this.#maxBytes} bytes that are allowed`);
    this.#checkDisk(bytes);
  }

  addEntry(): void {
    if (++this.entries > MAX_LAYER_ENTRIES) throw exhausted(`it has more than ${MAX_LAYER_ENTRIES} entries`);
    if (this.entries % CHECK_EVERY_ENTRIES === 0) this.#checkDisk(0);
  }

  #checkDisk(neededBytes: number): void {
    const stats = statfsSync(this.#directory);
    this.#uncheckedBytes = bytesUntilNextLook(stats);
    if (bytesForImages(stats) < neededBytes) {
      const freeBytes = stats.bavail * stats.bsize;
      throw exhausted(
        `the disk of ${this.#directory} has only ${freeBytes} bytes free, of which some stay free; ${MAKE_ROOM}`,
      );
    }
    if (filesForImages(stats) < 0)
      throw exhausted(`the disk of ${this.#directory} can take only ${stats.ffree} more files; ${MAKE_ROOM}`);
  }
}

function exhausted(message: string): PodwrightError {
  return new PodwrightError('resource_exhausted', `unpack layer: ${message}`);
}
