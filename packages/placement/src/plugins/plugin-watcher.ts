import { type FSWatcher, watch } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { CONTAINER_DIRECTORY, errorMessage, type Logger } from '@podwright/base';
import { removeIfEmpty } from '@podwright/host';
import { findSockets } from './plugin-sockets.ts';

/** Interval of the scans for changes missed by inotify. */
const PLUGIN_LOOK_PERIOD_MS = 10_000;

export type PluginWatcherOptions = {
  /** Directory to watch. Created if missing, and recreated if removed. */
  directory: string;
  logger: Logger;
  /** Interval of the scans that complement inotify, in milliseconds. Default: 10 s. */
  periodMs?: number;
  /** Called after each scan with all sockets by path (`FoundSockets.sockets`). */
  onSockets: (sockets: ReadonlyMap<string, string>) => void;
};

/** Watches for sockets under a directory, using both inotify and periodic scans. */
export class PluginWatcher {
  readonly #options: PluginWatcherOptions;
  readonly #watchers = new Map<string, FSWatcher>();
  #timer: NodeJS.Timeout | undefined;
  /** The scan in progress, if any; only one runs at a time. A change during the scan triggers another one. */
  #looking: Promise<void> | undefined;
  #isStale = false;
  #isClosed = false;

  constructor(options: PluginWatcherOptions) {
    this.#options = options;
  }

  /** Resolves once the first scan is complete. */
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
    // scan again, in case a socket appeared between scanning the directory and watching it
    for (const path of directories) if (!this.#watchers.has(path) && this.#watch(path)) this.#isStale = true;
    onSockets(sockets);
  }

  #watch(path: string): boolean {
    try {
      const watcher = watch(path, (event, name) => {
        if (event !== 'rename') return;
        // forget the watch of a directory that was moved or removed: it reports no more events, and another directory may take the path
        if (name === null || path.endsWith(`/${name}`)) this.#forget(path, watcher);
        void this.#look();
      });
      watcher.on('error', () => this.#forget(path, watcher));
      this.#watchers.set(path, watcher);
      return true;
    } catch {
      return false; // the directory was removed, or inotify's limit is reached: a later scan finds changes
    }
  }

  #forget(path: string, watcher: FSWatcher): void {
    watcher.close();
    if (this.#watchers.get(path) === watcher) this.#watchers.delete(path);
  }
}
