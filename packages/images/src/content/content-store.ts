import { randomBytes } from 'node:crypto';
import { createReadStream, type ReadStream } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorCode, isErrno, KeyedLock, PodwrightError, PRIVATE_DIRECTORY } from '@podwright/base';
import { MAX_PARTIAL_AGE_MS } from '../limits.ts';
import { ContentWriter, type ExpectedBlob } from './content-writer.ts';
import { hasherOf, isDigest, parseDigest } from './digest.ts';

/** Writes a blob's bytes, starting at `writer.offset`. */
export type Fill = (writer: ContentWriter) => Promise<void>;

/**
 * Stores blobs by digest, under `<root>/content`. `blobs/<algorithm>/<hex>` is either complete and verified, or absent;
 * `ingest/<algorithm>-<hex>` is a partial blob that the next attempt resumes. Blobs are not synced to disk on commit, so after a power
 * failure, one might be shorter than its record says. `has` therefore checks the size.
 */
export class ContentStore {
  readonly #root: string;
  readonly #locks = new KeyedLock();
  /** Digests of blobs whose partial file was created by this process and might still exist. */
  readonly #begun = new Set<string>();

  private constructor(root: string) {
    this.#root = root;
  }

  /** The directory that contains the blobs. */
  get directory(): string {
    return this.#root;
  }

  /** Opens the content store under `root`, creating it if necessary, and removes partial files that cannot be resumed. */
  static async open(root: string): Promise<ContentStore> {
    const store = new ContentStore(join(root, 'content'));
    await mkdir(join(store.#root, 'blobs/sha256'), { recursive: true, mode: PRIVATE_DIRECTORY });
    await mkdir(join(store.#root, 'ingest'), { recursive: true, mode: PRIVATE_DIRECTORY });
    await store.#removeLeftovers();
    return store;
  }

  /** Returns the path of a blob, for readers that need a file. The blob need not exist. */
  path(digest: string): string {
    const { algorithm, hex } = parseDigest(digest);
    return join(this.#root, 'blobs', algorithm, hex);
  }

  /** Returns the size of a blob in bytes; `undefined` if the blob does not exist. */
  async sizeOf(digest: string): Promise<number | undefined> {
    try {
      return (await stat(this.path(digest))).size;
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return undefined;
      throw error;
    }
  }

  /** Whether the blob exists and has this size. */
  async has(blob: ExpectedBlob): Promise<boolean> {
    return (await this.sizeOf(blob.digest)) === blob.size;
  }

  /**
   * Ensures that a blob exists. If it does not, `fill` writes the missing bytes from `writer.offset` on, and the result is verified and
   * committed. Calls for the same digest are serialized. If `fill` fails, its bytes are retained for the next attempt, unless they are
   * wrong (`data_loss`) or the disk is full (`resource_exhausted`). The signal only aborts the wait for another call; `fill` must observe
   * it itself.
   */
  ingest(blob: ExpectedBlob, fill: Fill, signal?: AbortSignal): Promise<void> {
    const ingest = async () => {
      if (await this.has(blob)) return;
      this.#begun.add(blob.digest);
      await this.#write(this.#partialPath(blob.digest), { expected: blob, fill });
      this.#begun.delete(blob.digest);
    };
    return this.#locks.run(blob.digest, ingest, signal);
  }

  /** Stores a blob of unknown digest under its sha256 digest. Calls `onDigest` with that digest before the blob becomes visible. */
  ingestUnnamed(fill: Fill, onDigest: (digest: string) => void): Promise<ExpectedBlob> {
    const partial = join(this.#root, 'ingest', `unnamed-${randomBytes(8).toString('hex')}`);
    return this.#write(partial, { expected: undefined, fill, onDigest });
  }

  /**
   * Reads and verifies a small blob. Rejects with `not_found`, with `resource_exhausted` if it is larger than `maxBytes`, or with
   * `data_loss`.
   */
  async readSmall(digest: string, maxBytes: number): Promise<Buffer> {
    const size = await this.sizeOf(digest);
    if (size === undefined) throw new PodwrightError('not_found', `read blob ${digest}: not in the content store`);
    if (size > maxBytes) {
      throw new PodwrightError('resource_exhausted', `read blob ${digest}: ${size} bytes, more than ${maxBytes}`);
    }
    const data = await readFile(this.path(digest));
    const actual = hasherOf(digest).update(data).digest('hex');
    if (actual !== parseDigest(digest).hex) {
      throw new PodwrightError('data_loss', `read blob ${digest}: the file's digest is ${actual}`);
    }
    return data;
  }

  createReadStream(digest: string): ReadStream {
    return createReadStream(this.path(digest), { highWaterMark: 1 << 20 });
  }

  async list(): Promise<ExpectedBlob[]> {
    const blobs: ExpectedBlob[] = [];
    for (const algorithm of await readdir(join(this.#root, 'blobs'))) {
      for (const hex of await readdir(join(this.#root, 'blobs', algorithm))) {
        const digest = `${algorithm}:${hex}`;
        const size = isDigest(digest) ? await this.sizeOf(digest) : undefined;
        if (size !== undefined) blobs.push({ digest, size });
      }
    }
    return blobs;
  }

  /** Waits until the blob has no writer, then deletes it if `isUnneeded` returns true. Returns whether the blob was deleted. */
  deleteIf(digest: string, isUnneeded: () => boolean): Promise<boolean> {
    return this.#locks.run(digest, async () => {
      if (!isUnneeded()) return false;
      await rm(this.path(digest), { force: true });
      return true;
    });
  }

  /**
   * Deletes this process's partial files that are no longer needed and have no writer. Those left by earlier processes, which a new pull
   * may resume, are retained until `open` considers them too old.
   */
  async deletePartialsIf(isUnneeded: (digest: string) => boolean): Promise<void> {
    for (const digest of this.#begun) {
      if (!isUnneeded(digest)) continue; // without waiting for the blob's writer
      await this.#locks.run(digest, async () => {
        if (!isUnneeded(digest)) return;
        await rm(this.#partialPath(digest), { force: true });
        this.#begun.delete(digest);
      });
    }
  }

  #partialPath(digest: string): string {
    return join(this.#root, 'ingest', digest.replace(':', '-'));
  }

  async #write(
    partial: string,
    {
      expected,
      fill,
      onDigest,
    }: { expected: ExpectedBlob | undefined; fill: Fill; onDigest?: (digest: string) => void },
  ): Promise<ExpectedBlob> {
    const writer = await ContentWriter.open(partial, expected);
    try {
      await fill(writer);
      const blob = await writer.finish();
      onDigest?.(blob.digest);
      const path = this.path(blob.digest);
      await mkdir(dirname(path), { recursive: true, mode: PRIVATE_DIRECTORY });
      await rename(partial, path);
      return blob;
    } catch (error) {
      const hopeless = expected === undefined || ['data_loss', 'resource_exhausted'].includes(errorCode(error));
      if (hopeless || writer.offset === 0) await rm(partial, { force: true });
      throw error;
    } finally {
      await writer.close();
    }
  }

  async #removeLeftovers(): Promise<void> {
    for (const name of await readdir(join(this.#root, 'ingest'))) {
      const path = join(this.#root, 'ingest', name);
      const isPartial = isDigest(name.replace('-', ':'));
      if (!isPartial || (await stat(path)).mtimeMs < Date.now() - MAX_PARTIAL_AGE_MS)
        await rm(path, { recursive: true });
    }
  }
}
