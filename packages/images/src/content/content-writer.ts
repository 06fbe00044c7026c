import type { Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isErrno, PodwrightError, PRIVATE_FILE, wrapError } from '@podwright/base';
import { ArrivingBlob } from './arriving-blob.ts';
import { hasherOf } from './digest.ts';
import { bytesForImages, bytesUntilNextCheck, MAKE_ROOM } from './disk-reserve.ts';

/** The digest and size that a blob is expected to have. */
export type ExpectedBlob = { digest: string; size: number };

type WriterParts = {
  path: string;
  file: FileHandle;
  hash: Hash;
  offset: number;
  expected: ExpectedBlob | undefined;
};

/** Size of a write batch. The first batch is small, so that readers following the file can start early. */
const BATCH_BYTES = 1 << 20;
const FIRST_BATCH_BYTES = 128 << 10;

/**
 * Appends to a blob's partial file and hashes the bytes. Rejects bytes beyond the expected size, so that a server lying about the size
 * cannot fill the disk. One batch is written while the next is being collected. Bytes are copied into the batch: a list of chunks would use
 * memory in proportion to the number of chunks, which the server controls.
 */
export class ContentWriter {
  /** Number of the blob's bytes accepted so far, including those of an earlier, interrupted attempt. */
  offset: number;
  /** Whether this writer resumes an earlier attempt. */
  readonly resumed: boolean;
  /** The partial file, for readers that follow it as it is written. */
  readonly arriving: ArrivingBlob;
  readonly #path: string;
  readonly #file: FileHandle;
  readonly #hash: Hash;
  readonly #expected: ExpectedBlob | undefined;
  /**
   * The batch of bytes being collected. `#spare` is the buffer of the batch being written; `#batchSize` is the number of bytes in `#batch`.
   */
  #batch = Buffer.alloc(0);
  #spare = Buffer.alloc(0);
  #batchSize = 0;
  #batchLimit = FIRST_BATCH_BYTES;
  #isComplete = false;
  #written: number;
  #writing: Promise<void> = Promise.resolve();

  /** Bytes that may be written before the next check of free disk space. */
  #uncheckedBytes = 0;

  private constructor(parts: WriterParts) {
    this.#path = parts.path;
    this.#file = parts.file;
    this.#hash = parts.hash;
    this.#expected = parts.expected;
    this.offset = parts.offset;
    this.#written = parts.offset;
    this.resumed = parts.offset > 0;
    this.arriving = new ArrivingBlob(parts.path, parts.expected?.size ?? Number.POSITIVE_INFINITY);
    this.arriving.grow(parts.offset);
  }

  /** Opens the partial file at `path` for appending. If `expected` is omitted, creates a new file and hashes it with sha256. */
  static async open(path: string, expected: ExpectedBlob | undefined): Promise<ContentWriter> {
    const file = await open(path, expected === undefined ? 'wx' : 'a', PRIVATE_FILE);
    try {
      const hash = hasherOf(expected?.digest ?? `sha256:${'0'.repeat(64)}`);
      let offset = (await file.stat()).size;
      if (expected !== undefined && offset > expected.size) {
        await file.truncate(0);
        offset = 0;
      }
      if (offset > 0)
        for await (const chunk of createReadStream(path, { highWaterMark: BATCH_BYTES })) hash.update(chunk);
      return new ContentWriter({ path, file, hash, offset, expected });
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Appends bytes. Rejects with `data_loss` if they exceed the expected size, and with `resource_exhausted` if the disk is full. */
  async write(chunk: Uint8Array): Promise<void> {
    const expected = this.#expected;
    if (expected !== undefined && this.offset + chunk.length > expected.size) {
      throw new PodwrightError('data_loss', `write ${expected.digest}: more than the ${expected.size} bytes announced`);
    }
    this.#hash.update(chunk);
    this.offset += chunk.length;
    for (let left = chunk; left.length > 0; ) {
      const taken = left.subarray(0, this.#room(left.length));
      this.#batch.set(taken, this.#batchSize);
      this.#batchSize += taken.length;
      left = left.subarray(taken.length);
      if (this.#batchSize === this.#batchLimit) await this.#flush();
    }
  }

  /** Grows the batch, up to its limit, to make room for `bytes` more. Returns its number of free bytes. */
  #room(bytes: number): number {
    const needed = Math.min(this.#batchLimit, this.#batchSize + bytes);
    if (needed > this.#batch.length) {
      const grown = Buffer.allocUnsafeSlow(Math.min(this.#batchLimit, Math.max(needed, 2 * this.#batch.length)));
      this.#batch.copy(grown, 0, 0, this.#batchSize);
      this.#batch = grown;
    }
    return this.#batch.length - this.#batchSize;
  }

  /** Writes the last batch and returns the blob's digest and size. Rejects with `data_loss` if they differ from the expected ones. */
  async finish(): Promise<ExpectedBlob> {
    await this.#flush();
    await this.#writing;
    const algorithm = this.#expected?.digest.split(':')[0] ?? 'sha256';
    const digest = `${algorithm}:${this.#hash.digest('hex')}`;
    const expected = this.#expected ?? { digest, size: this.offset };
    if (this.offset !== expected.size) {
      throw new PodwrightError(
        'data_loss',
        `write ${expected.digest}: ${this.offset} bytes instead of the ${expected.size} announced`,
      );
    }
    if (digest !== expected.digest) {
      throw new PodwrightError('data_loss', `write ${expected.digest}: the content has the digest ${digest}`);
    }
    this.#isComplete = true;
    return expected;
  }

  /** Closes the partial file. The bytes accepted so far remain in it for a later attempt. */
  async close(): Promise<void> {
    if (!this.#isComplete) this.arriving.fail();
    await this.#flush().catch(() => undefined);
    await this.#writing.catch(() => undefined);
    await this.#file.close();
  }

  async #flush(): Promise<void> {
    await this.#writing;
    const batch = this.#batch.subarray(0, this.#batchSize);
    [this.#batch, this.#spare] = [this.#spare, this.#batch];
    this.#batchSize = 0;
    this.#batchLimit = Math.min(BATCH_BYTES, 2 * this.#batchLimit);
    this.#writing = this.#append(batch);
    this.#writing.catch(() => undefined); // the next flush or finish throws the error
  }

  /** Keeps a reserve of disk space free, because on a full disk, other programs would fail before this pull does. */
  async #checkSpace(bytes: number): Promise<void> {
    this.#uncheckedBytes -= bytes;
    if (this.#uncheckedBytes >= 0) return;
    const space = await statfs(dirname(this.#path));
    this.#uncheckedBytes = bytesUntilNextCheck(space);
    if (bytesForImages(space) >= bytes) return;
    const free = `${space.bavail * space.bsize} bytes free, part of which are reserved`;
    throw new PodwrightError('resource_exhausted', `write a blob: the disk is full: it has ${free}; ${MAKE_ROOM}`);
  }

  async #append(batch: Buffer): Promise<void> {
    await this.#checkSpace(batch.length);
    try {
      for (let left = batch; left.length > 0; ) {
        const { bytesWritten } = await this.#file.write(left, 0, left.length, this.#written);
        this.#written += bytesWritten;
        left = left.subarray(bytesWritten);
        this.arriving.grow(this.#written);
      }
    } catch (error) {
      if (isErrno(error, 'ENOSPC') || isErrno(error, 'EDQUOT')) {
        throw wrapError(`write a blob: the disk is full; ${MAKE_ROOM}`, error, 'resource_exhausted');
      }
      throw error;
    }
  }
}
