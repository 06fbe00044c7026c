import { randomUUID } from 'node:crypto';
import { readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { sleep } from './deadline.ts';
import { errorCode, errorMessage, isErrno, isNothingThere } from './errors.ts';
import { Limiter } from './keyed-lock.ts';
import type { Logger } from './log.ts';
import { makePrivateDirectory } from './modes.ts';
import { removeTree } from './remove-tree.ts';

/** How long a trash that is being closed still deletes: small trees are then gone when the process ends. */
const CLOSE_GRACE_MS = 1000;

/** A tree that takes longer lets the others go first: a process that holds a directory of it can fill it again and again. */
const TURN_MS = 60_000;
/** When a tree that could not be deleted is tried again. */
const RETRY_MS = 60_000;

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

  /** `directory` is on the same file system as what is thrown away, and on the same mount. */
  constructor(directory: string, logger: Logger) {
    this.#directory = directory;
    this.#logger = logger;
    makePrivateDirectory(directory);
    for (const name of readdirSync(directory)) this.#delete(join(directory, name));
  }

  /**
   * Takes a tree out of its place at once, and deletes it later. No error if nothing is there, or can be. It is deleted
   * where it is on a mount of its own, while it is immutable, and where a full disk has no room for another name in the trash.
   */
  throwAway(path: string): void {
    const trashed = join(this.#directory, randomUUID());
    try {
      renameSync(path, trashed);
    } catch (error) {
      if (isNothingThere(error)) return;
      if (!['EXDEV', 'EPERM'].some((code) => isErrno(error, code)) && errorCode(error) !== 'resource_exhausted')
        throw error;
      this.#delete(path);
      return;
    }
    this.#delete(trashed);
  }

  /** Resolves when everything thrown away so far is deleted. */
  async empty(): Promise<void> {
    for (let seen: unknown; seen !== this.#work; ) {
      seen = this.#work;
      await seen;
    }
  }

  /** Stops deleting, after a second at most; the rest stays for the next time. */
  async close(): Promise<void> {
    const emptied = new AbortController();
    const grace = sleep(CLOSE_GRACE_MS, emptied.signal).catch(() => undefined);
    await Promise.race([this.empty(), grace]);
    emptied.abort();
    this.#stop.abort();
    await this.empty();
  }

  #delete(path: string): void {
    const work = this.#limiter.run(async () => {
      const late = AbortSignal.timeout(TURN_MS);
      await removeTree(path, AbortSignal.any([this.#stop.signal, late]));
    });
    this.#work = work.catch((error: unknown) => {
      if (this.#stop.signal.aborted) return;
      this.#logger.warn({ path, error: errorMessage(error) }, 'cannot delete a tree, it is tried again');
      setTimeout(() => !this.#stop.signal.aborted && this.#delete(path), RETRY_MS).unref();
    });
  }
}
