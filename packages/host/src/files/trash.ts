import { randomUUID } from 'node:crypto';
import { readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import {
  errorCode,
  errorMessage,
  isErrno,
  isNothingThere,
  Limiter,
  type Logger,
  makePrivateDirectory,
  sleep,
} from '@podwright/base';
import { removeTree } from './remove-tree.ts';

/** How long `close` lets deletions continue, so that small directory trees are gone before the process exits. */
const CLOSE_GRACE_MS = 1000;

/**
 * A deletion that takes longer than this is interrupted and continued after the other trees: a process may keep adding files to the tree,
 * and would otherwise block them.
 */
const TURN_MS = 60_000;
const RETRY_MS = 60_000;

/** Number of trees that this process still has to delete, in all trash directories. */
let pending = 0;

/** Whether this process has trees to delete, except those whose deletion has failed and will be retried. */
export function isTrashBusy(): boolean {
  return pending > 0;
}

/**
 * Deletes directory trees in the background: a tree is first moved into the trash directory, which is quick, and then removed file by file.
 * Trees that have not been deleted when the process exits are deleted when the trash is opened again.
 */
export class Trash {
  readonly #directory: string;
  readonly #logger: Logger;
  readonly #limiter = new Limiter(1);
  readonly #stop = new AbortController();
  #work: Promise<unknown> = Promise.resolve();

  readonly #turnMs: number;

  /** `directory` must be on the same mount as the directory trees to delete. */
  constructor(directory: string, logger: Logger, { turnMs = TURN_MS } = {}) {
    this.#directory = directory;
    this.#logger = logger;
    this.#turnMs = turnMs;
    makePrivateDirectory(directory);
    for (const name of readdirSync(directory)) this.#delete(join(directory, name));
  }

  /**
   * Renames a directory tree out of the way immediately and deletes it later. Not an error if `path` does not exist or one of its parents
   * is not a directory. If the tree cannot be moved because it is on another mount, is immutable, or the disk has no room for a new
   * directory entry, it is deleted later, in place.
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

  /** Resolves once everything thrown away so far has been deleted, or its deletion has failed and will be retried. */
  async empty(): Promise<void> {
    for (let seen: unknown; seen !== this.#work; ) {
      seen = this.#work;
      await seen;
    }
  }

  /** Stops deleting, after at most a second. Whatever remains is deleted when the trash is opened again. */
  async close(): Promise<void> {
    const emptied = new AbortController();
    const grace = sleep(CLOSE_GRACE_MS, emptied.signal).catch(() => undefined);
    await Promise.race([this.empty(), grace]);
    emptied.abort();
    this.#stop.abort();
    await this.empty();
  }

  #delete(path: string): void {
    pending++;
    let turn: AbortSignal | undefined;
    const work = this.#limiter.run(async () => {
      turn = AbortSignal.timeout(this.#turnMs);
      await removeTree(path, AbortSignal.any([this.#stop.signal, turn]));
    });
    this.#work = work
      .finally(() => pending--)
      .catch((error: unknown) => {
        if (this.#stop.signal.aborted) return;
        if (turn?.aborted) return this.#delete(path);
        this.#logger.warn({ path, error: errorMessage(error) }, 'cannot delete a tree, will retry');
        setTimeout(() => !this.#stop.signal.aborted && this.#delete(path), RETRY_MS).unref();
      });
  }
}
