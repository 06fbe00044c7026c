import { mkdirSync, readdirSync, renameSync } from 'node:fs';
import { lstat, opendir, rename, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage, Limiter, type Logger, PRIVATE_DIRECTORY } from '@podwright/base';

/** Deeper trees are moved up and taken apart on their own: paths have a limit, and so have open directories. */
const MAX_DEPTH = 16;

/**
 * Deletes trees in the background: a tree is moved here, which is quick, and taken apart one file after the other. What is not
 * done when the process ends is done when the trash is opened again.
 */
export class Trash {
  readonly #directory: string;
  readonly #logger: Logger;
  readonly #limiter = new Limiter(1);
  readonly #stop = new AbortController();
  #work: Promise<unknown> = Promise.resolve();
  #next = 0;

  /** `directory` is on the same file system as what is thrown away. */
  constructor(directory: string, logger: Logger) {
    this.#directory = directory;
    this.#logger = logger;
    mkdirSync(directory, { recursive: true, mode: PRIVATE_DIRECTORY });
    for (const name of readdirSync(directory)) this.#delete(join(directory, name));
  }

  /** Takes a tree out of its place at once, and deletes it later. */
  throwAway(path: string): void {
    const trashed = this.#freshPath();
    renameSync(path, trashed);
    this.#delete(trashed);
  }

  /** Resolves when everything thrown away so far is deleted. */
  async empty(): Promise<void> {
    for (let seen: unknown; seen !== this.#work; ) {
      seen = this.#work;
      await seen;
    }
  }

  /** Stops deleting; the rest stays for the next time. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.empty();
  }

  #freshPath(): string {
    return join(this.#directory, `${Date.now()}-${process.pid}-${this.#next++}`);
  }

  #delete(path: string): void {
    const work = this.#limiter.run(() => this.#deleteTree(Buffer.from(path)));
    this.#work = work.catch((error: unknown) => {
      if (!this.#stop.signal.aborted) this.#logger.warn({ path, error: errorMessage(error) }, 'cannot delete a tree');
    });
  }

  async #deleteTree(path: Buffer, depth = 0): Promise<void> {
    this.#stop.signal.throwIfAborted();
    const stat = await lstat(path);
    if (!stat.isDirectory()) return unlink(path);
    if (depth > MAX_DEPTH) {
      const moved = this.#freshPath();
      await rename(path, moved);
      return this.#delete(moved);
    }
    await this.#deleteChildren(path, depth);
    await rmdir(path);
  }

  async #deleteChildren(path: Buffer, depth: number): Promise<void> {
    const prefix = Buffer.concat([path, Buffer.from('/')]);
    // read in pieces: it may have millions of entries
    for await (const entry of await opendir(path as unknown as string, { encoding: 'buffer' as BufferEncoding })) {
      this.#stop.signal.throwIfAborted();
      const child = Buffer.concat([prefix, entry.name as unknown as Buffer]);
      if (entry.isDirectory()) await this.#deleteTree(child, depth + 1);
      else await unlink(child);
    }
  }
}
