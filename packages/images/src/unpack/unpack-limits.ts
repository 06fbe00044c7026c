import { statfsSync } from 'node:fs';
import { PodwrightError } from '@podwright/base';
import { bytesForImages, bytesUntilNextCheck, filesForImages, MAKE_ROOM } from '../content/disk-reserve.ts';
import { MAX_LAYER_ENTRIES, MAX_OVERHEAD_BYTES } from '../limits.ts';

/** Number of entries between additional disk space checks, because even empty files take up space. */
const CHECK_EVERY_ENTRIES = 100;

/** Enforces the limits for an unpacked layer: bytes of the uncompressed stream, number of entries, and free disk space. */
export class UnpackLimits {
  readonly #directory: string;
  readonly #maxBytes: number;
  #bytes = 0;
  #contentBytes = 0;
  /** Bytes that may be written before the next check of free disk space. */
  #uncheckedBytes = 0;
  entries = 0;

  constructor(directory: string, maxBytes: number) {
    this.#directory = directory;
    this.#maxBytes = maxBytes;
  }

  /** Total size of all files' content so far, in bytes. */
  get contentBytes(): number {
    return this.#contentBytes;
  }

  /** Counts bytes of the uncompressed stream. Throws `resource_exhausted` if a limit is exceeded. */
  addBytes(count: number): void {
    this.#bytes += count;
    this.#uncheckedBytes -= count;
    if (this.#bytes > this.#maxBytes) throw exhausted(`it has more than the ${this.#maxBytes} bytes that are allowed`);
    if (this.#bytes - this.#contentBytes > MAX_OVERHEAD_BYTES)
      throw exhausted(`it has more than ${MAX_OVERHEAD_BYTES} bytes besides the contents of files`);
    if (this.#uncheckedBytes < 0) this.#checkDisk(0);
  }

  /** Counts bytes of the stream that are file content. */
  addContent(count: number): void {
    this.#contentBytes += count;
  }

  /** Counts a file about to be copied up from a lower layer, because a small entry can cause a large copy. */
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
    this.#uncheckedBytes = bytesUntilNextCheck(stats);
    if (bytesForImages(stats) < neededBytes) {
      const freeBytes = stats.bavail * stats.bsize;
      throw exhausted(
        `the disk of ${this.#directory} has only ${freeBytes} bytes free, part of which are reserved; ${MAKE_ROOM}`,
      );
    }
    if (filesForImages(stats) < 0)
      throw exhausted(`the disk of ${this.#directory} has only ${stats.ffree} free inodes; ${MAKE_ROOM}`);
  }
}

function exhausted(message: string): PodwrightError {
  return new PodwrightError('resource_exhausted', `unpack layer: ${message}`);
}
