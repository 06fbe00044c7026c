import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorMessage, isErrno, type Logger, PRIVATE_DIRECTORY, RecentlyUsed, Timer } from '@podwright/base';
import { readJsonFile, writeFileAtomic } from '@podwright/host';
import {
  FORMER_CALLER_MS,
  KNOWN_CALLER_MS,
  MAX_CALLERS,
  MAX_CALLERS_FILE_BYTES,
  SAVE_PAUSE_MS,
  SAVED_CALLER_MS,
} from './limits.ts';

/** `known` callers were authenticated within the last hour; `former` callers were authenticated within the last 30 days. */
export type Acquaintance = 'known' | 'former' | undefined;

export type KnownCallersOptions = {
  /** File in which the callers are saved across restarts. If `undefined`, they are not saved. */
  path?: string;
  logger?: Logger;
  /** A monotonic clock, in milliseconds. */
  now?: () => number;
};

/**
 * Records authenticated callers and saves them to disk, so that after a restart, connections from the API server are not rate-limited like
 * those of strangers. Failed reads and writes are only logged: their only effect is that known callers are treated as strangers.
 */
export class KnownCallers {
  readonly #options: KnownCallersOptions;
  readonly #now: () => number;
  /** When each caller was last authenticated, in monotonic time. Times before this process started are negative. */
  readonly #seenAtMs = new RecentlyUsed<number>(MAX_CALLERS);
  readonly #savedAtMs = new RecentlyUsed<number>(MAX_CALLERS);
  #timer: Timer | undefined;
  #pauseUntilMs = -Infinity;
  #written: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: KnownCallersOptions = {}) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** Reads the callers saved before the restart. Never rejects. */
  async load(): Promise<void> {
    const { path, logger } = this.#options;
    if (path === undefined) return;
    try {
      for (const [caller, atMs] of decodeCallers(await readJsonFile(path, MAX_CALLERS_FILE_BYTES))) {
        const seenAtMs = this.#now() - Math.max(0, Date.now() - atMs); // the host's clock may have been set back
        this.#seenAtMs.set(caller, seenAtMs);
        this.#savedAtMs.set(caller, seenAtMs);
      }
    } catch (error) {
      if (!isErrno(error, 'ENOENT'))
        logger?.warn({ path, error: errorMessage(error) }, 'the known callers are ignored');
    }
  }

  acquaintance(caller: string): Acquaintance {
    const seenAtMs = this.#seenAtMs.get(caller);
    if (seenAtMs === undefined) return undefined;
    const ageMs = this.#now() - seenAtMs;
    if (ageMs < KNOWN_CALLER_MS) return 'known';
    return ageMs < FORMER_CALLER_MS ? 'former' : undefined;
  }

  /** Records that a caller has just been authenticated. */
  add(caller: string): void {
    const now = this.#now();
    this.#seenAtMs.set(caller, now);
    if (this.#options.path === undefined || this.#isClosed || this.#timer !== undefined) return;
    if (now - (this.#savedAtMs.get(caller) ?? -Infinity) < SAVED_CALLER_MS) return;
    this.#timer = new Timer(() => void this.#save(), Math.max(0, this.#pauseUntilMs - now)).unref();
  }

  /** Writes unsaved changes. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#timer !== undefined) await this.#save();
    await this.#written;
  }

  #save(): Promise<void> {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    this.#pauseUntilMs = this.#now() + SAVE_PAUSE_MS;
    this.#written = this.#written.then(() => this.#write());
    return this.#written;
  }

  async #write(): Promise<void> {
    const { path, logger } = this.#options;
    const offsetMs = Date.now() - this.#now();
    const callers = [...this.#seenAtMs.entries()];
    for (const [caller, seenAtMs] of callers) this.#savedAtMs.set(caller, seenAtMs);
    const text = JSON.stringify(callers.map(([caller, seenAtMs]) => [caller, Math.round(seenAtMs + offsetMs)]));
    try {
      await mkdir(dirname(path!), { recursive: true, mode: PRIVATE_DIRECTORY });
      await writeFileAtomic(path!, text);
    } catch (error) {
      logger?.warn({ path, error: errorMessage(error) }, 'the known callers could not be saved');
    }
  }
}

function decodeCallers(callers: unknown): [caller: string, atMs: number][] {
  const isEntry = (entry: unknown) =>
    Array.isArray(entry) && typeof entry[0] === 'string' && Number.isFinite(entry[1]) && entry.length === 2;
  if (!Array.isArray(callers) || !callers.every(isEntry)) throw new Error('it is not a list of callers');
  return callers as [string, number][];
}
