import { mkdir, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { errorMessage, isErrno, isRecord, type Logger, PRIVATE_DIRECTORY } from '@podwright/base';
import { removeUnfinished, writeFileDurable } from './atomic-file.ts';
import { removeIfEmpty } from './directory.ts';
import { readJsonFile } from './regular-file.ts';

/**
 * Maximum size of a checkpoint file. Enough for 1000 pods with 20 containers each: a container's entry takes up to 400 bytes (its name, and
 * the requests and limits of a few resources). Parsing a file of this size with the smallest possible entries takes some 150 MB, of the 1
 * GB that the node daemon may use.
 */
const MAX_CHECKPOINT_BYTES = 8 << 20;

/** Changes made within this time of each other are written together. */
const CHECKPOINT_DELAY_MS = 100;

/** Delay before a failed write is retried. */
const CHECKPOINT_AGAIN_MS = 1000;

/** `decode` decodes one entry of the checkpoint file; it throws if the value is not a valid entry. */
export type CheckpointOptions<T> = { path: string; logger: Logger; decode: (entry: unknown) => T };

/**
 * A checkpoint file: a map (keyed by pod UID, for example) that survives a restart. Writes are atomic and synced to disk. A failed write,
 * for example on a full disk, is retried, and the outdated file is removed in the meantime. So after a restart the file might be missing,
 * but it is never out of date.
 */
export class Checkpoint<T> {
  readonly #options: Omit<CheckpointOptions<T>, 'decode'> | undefined;
  readonly #entries: Map<string, T>;
  #isChanged = false;
  #isFailing = false;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;
  #written: Promise<void> = Promise.resolve();

  /** If `options` is omitted, the entries are kept only in memory. */
  constructor(options?: Omit<CheckpointOptions<T>, 'decode'>, entries = new Map<string, T>()) {
    this.#options = options;
    this.#entries = entries;
  }

  /** Reads the checkpoint file. A corrupt file is treated as missing. */
  static async open<T>(options: CheckpointOptions<T>): Promise<Checkpoint<T>> {
    return new Checkpoint(options, await readEntries(options));
  }

  get(key: string): T | undefined {
    return this.#entries.get(key);
  }

  /** Sets the entry for a key. `entry` must not be modified afterwards. */
  set(key: string, entry: T): void {
    if (isDeepStrictEqual(this.#entries.get(key), entry)) return;
    this.#entries.set(key, entry);
    this.#change();
  }

  delete(key: string): void {
    if (this.#entries.delete(key)) this.#change();
  }

  keepOnly(isKnown: (key: string) => boolean): void {
    for (const key of this.#entries.keys()) if (!isKnown(key)) this.delete(key);
  }

  /** Resolves once the attempt to write all earlier changes has succeeded or failed. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#written = this.#written.then(() => this.#write());
    return this.#written;
  }

  /** Flushes pending changes, then removes the file if there are no entries. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.flush();
    if (this.#entries.size > 0 || this.#options === undefined) return;
    await rm(this.#options.path, { force: true });
    await removeIfEmpty(dirname(this.#options.path));
  }

  #change(): void {
    this.#isChanged = true;
    this.#schedule(CHECKPOINT_DELAY_MS);
  }

  #schedule(delayMs: number): void {
    if (!this.#isClosed && this.#options !== undefined) this.#timer ??= setTimeout(() => void this.flush(), delayMs);
  }

  async #write(): Promise<void> {
    if (!this.#isChanged || this.#options === undefined) return;
    const { path, logger } = this.#options;
    this.#isChanged = false;
    try {
      await mkdir(dirname(path), { recursive: true, mode: PRIVATE_DIRECTORY });
      await writeFileDurable(path, JSON.stringify({ entries: Object.fromEntries(this.#entries) }));
      this.#isFailing = false;
    } catch (error) {
      this.#isChanged = true;
      if (!this.#isFailing)
        logger.warn({ path, error: errorMessage(error) }, 'a checkpoint could not be written; the write is retried');
      this.#isFailing = true;
      await rm(path, { force: true }).catch((failure: unknown) =>
        logger.debug({ path, error: errorMessage(failure) }, 'the outdated checkpoint could not be removed'),
      );
      this.#schedule(CHECKPOINT_AGAIN_MS);
    }
  }
}

async function readEntries<T>({ path, logger, decode }: CheckpointOptions<T>): Promise<Map<string, T>> {
  try {
    await removeUnfinished(path).catch((error: unknown) =>
      logger.debug({ path, error: errorMessage(error) }, 'leftovers of a checkpoint could not be removed'),
    );
    const { entries } = ((await readJsonFile(path, MAX_CHECKPOINT_BYTES)) ?? {}) as { entries?: unknown };
    return new Map(fieldsOf(entries).map(([key, entry]) => [key, decode(entry)]));
  } catch (error) {
    if (!isErrno(error, 'ENOENT'))
      logger.warn({ path, error: errorMessage(error) }, 'a checkpoint is ignored because it is corrupt');
    return new Map();
  }
}

/** Returns the fields of an object; throws if the value is not an object. */
export function fieldsOf(value: unknown): [string, unknown][] {
  if (!isRecord(value)) throw new Error('an object is expected');
  return Object.entries(value);
}
