import { type FSWatcher, watch } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { CONTAINER_DIRECTORY, errorMessage, type Logger, removeIfEmpty } from '@podwright/base';
import { findSockets } from './plugin-sockets.ts';

/** inotify tells what changes; this is for what it does not. */
const PLUGIN_LOOK_PERIOD_MS = 10_000;

export type PluginWatcherOptions = {
  /** Made if it is not there; where somebody removes it, it is made again. */
  directory: string;
  logger: Logger;
  /** Everything is looked at this often although nothing was seen. */
  periodMs?: number;
  /** Gets all sockets after each look, by path (`FoundSockets.sockets`). */
  onSockets: (sockets: ReadonlyMap<string, string>) => void;
};

/** Follows the sockets below a directory: a change is seen by inotify, and in any case by a look now and then. */
export class PluginWatcher {
  readonly #options: PluginWatcherOptions;
  readonly #watchers = new Map<string, FSWatcher>();
  #timer: NodeJS.Timeout | undefined;
  /** One look at a time; a change during one begins the next. */
  #looking: Promise<void> | undefined;
  #isStale = false;
  #isClosed = false;

  constructor(options: PluginWatcherOptions) {
    this.#options = options;
  }

  /** Resolves after the first look. */
  async start(): Promise<void> {
    const { periodMs = PLUGIN_LOOK_PERIOD_MS } = this.#options;
    this.#timer = setInterval(() => this.#look(), periodMs).unref();
    await this.#look();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
    await this.#looking;
    await removeIfEmpty(this.#options.directory);
  }

  #look(): Promise<void> {
    this.#isStale = true;
    this.#looking ??= this.#lookAll().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #lookAll(): Promise<void> {
    while (this.#isStale && !this.#isClosed) {
      this.#isStale = false;
      try {
        await this.#lookOnce();
      } catch (error) {
        const { directory, logger } = this.#options;
        logger.warn({ directory, error: errorMessage(error) }, 'cannot look for plugins');
      }
    }
  }

  async #lookOnce(): Promise<void> {
    const { directory, onSockets } = this.#options;
    await mkdir(directory, { recursive: true, mode: CONTAINER_DIRECTORY });
    const { sockets, directories } = await findSockets(directory);
    if (this.#isClosed) return;
    for (const [path, watcher] of this.#watchers) if (!directories.includes(path)) this.#forget(path, watcher);
    // what comes between the reading of a new directory and its watch is seen by one more look
    for (const path of directories) if (!this.#watchers.has(path) && this.#watch(path)) this.#isStale = true;
    onSockets(sockets);
  }

  #watch(path: string): boolean {
    try {
      const watcher = watch(path, (event, name) => {
        if (event !== 'rename') return;
        // a directory that is moved or removed has no more to tell; another one may take its place
        if (name === null || path.endsWith(`/${name}`)) this.#forget(path, watcher);
        void this.#look();
      });
      watcher.on('error', () => this.#forget(path, watcher));
      this.#watchers.set(path, watcher);
      return true;
    } catch {
      return false; // gone already, or inotify's limit: the next look sees what changes
    }
  }

  #forget(path: string, watcher: FSWatcher): void {
    watcher.close();
    if (this.#watchers.get(path) === watcher) this.#watchers.delete(path);
  }
}
