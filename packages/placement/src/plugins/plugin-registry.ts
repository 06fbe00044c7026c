import { Backoff, errorMessage, type Logger, sleep } from '@podwright/base';
import { VOLUME_BACKOFF } from './limits.ts';
import type { PluginHandlers } from './plugin-handler.ts';
import { PluginWatcher } from './plugin-watcher.ts';
import { type RegisteredPlugin, registerPlugin } from './register-plugin.ts';

/** How long kubelet startup waits for plugins that are already running, since pods may need them. */
const PLUGIN_START_WAIT_MS = 2000;

export type PluginRegistryOptions = {
  /** The kubelet's `plugins_registry` directory. */
  directory: string;
  handlers: PluginHandlers;
  logger: Logger;
  /** Interval of the directory scans that complement inotify, in milliseconds. Default: 10 s. */
  periodMs?: number;
};

/**
 * A watched socket. `ended` resolves once `stop` has been aborted and the plugin is deregistered, `tried` after the first registration
 * attempt.
 */
type Followed = { identity: string; stop: AbortController; ended: Promise<void>; tried: Promise<void> };

/**
 * Registers the plugins whose sockets are in a directory. Sockets are handled independently: a hanging plugin does not delay the others.
 * Failed registrations are retried with back-off. Removing the socket deregisters the plugin. If a socket is replaced, the old plugin is
 * deregistered before the new one is registered.
 */
export class PluginRegistry {
  readonly #options: PluginRegistryOptions;
  readonly #watcher: PluginWatcher;
  readonly #followed = new Map<string, Followed>();
  /** Deregistrations in progress after the plugin's socket was removed, by socket path. */
  readonly #leaving = new Map<string, Promise<void>>();
  #isClosed = false;

  constructor(options: PluginRegistryOptions) {
    this.#options = options;
    this.#watcher = new PluginWatcher({ ...options, onSockets: (sockets) => this.#reconcile(sockets) });
  }

  /** Resolves once registration has been attempted for every plugin present, or after a timeout. */
  async start(): Promise<void> {
    await this.#watcher.start();
    const tried = Promise.all([...this.#followed.values()].map((one) => one.tried));
    const enough = new AbortController();
    await Promise.race([tried, sleep(PLUGIN_START_WAIT_MS, enough.signal).catch(() => undefined)]);
    enough.abort();
  }

  /** Stops watching. Plugins are not deregistered; the next kubelet will register them again. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#watcher.close();
    this.#reconcile(new Map());
    await Promise.all(this.#leaving.values());
  }

  #reconcile(sockets: ReadonlyMap<string, string>): void {
    for (const [path, followed] of this.#followed)
      if (sockets.get(path) !== followed.identity) this.#leave(path, followed);
    for (const [path, identity] of sockets) if (!this.#followed.has(path)) this.#follow(path, identity);
  }

  #leave(path: string, { stop, ended }: Followed): void {
    stop.abort();
    this.#followed.delete(path);
    const left = ended.finally(() => {
      if (this.#leaving.get(path) === left) this.#leaving.delete(path);
    });
    this.#leaving.set(path, left);
  }

  #follow(path: string, identity: string): void {
    const stop = new AbortController();
    const { promise: tried, resolve } = Promise.withResolvers<void>();
    const before = this.#leaving.get(path) ?? Promise.resolve();
    const ended = before.then(() => this.#serve(path, stop.signal, resolve)).finally(resolve);
    this.#followed.set(path, { identity, stop, ended, tried });
  }

  async #serve(path: string, signal: AbortSignal, onTried: () => void): Promise<void> {
    const registered = await this.#registerWithRetry(path, signal, onTried);
    if (registered === undefined) return;
    const { plugin, handler } = registered;
    onTried();
    this.#options.logger.info({ path, plugin: plugin.name, endpoint: plugin.endpoint }, 'registered a plugin');
    await new Promise((resolve) => {
      if (signal.aborted) resolve(undefined);
      signal.addEventListener('abort', resolve, { once: true });
    });
    if (this.#isClosed) return;
    await handler.deregister(plugin).catch((error: unknown) => {
      this.#options.logger.error({ path, plugin: plugin.name, error: errorMessage(error) }, 'deregister a plugin');
    });
    this.#options.logger.info({ path, plugin: plugin.name }, 'deregistered a plugin');
  }

  /** Registers the plugin, retrying with back-off. Resolves with `undefined` if the socket is removed first. */
  async #registerWithRetry(
    path: string,
    signal: AbortSignal,
    onTried: () => void,
  ): Promise<RegisteredPlugin | undefined> {
    const backoff = new Backoff(VOLUME_BACKOFF);
    while (!signal.aborted) {
      try {
        return await registerPlugin(path, this.#options.handlers, signal);
      } catch (error) {
        if (signal.aborted) return undefined;
        onTried();
        const retryInMs = backoff.next('');
        this.#options.logger.warn({ path, retryInMs, error: errorMessage(error) }, 'a plugin could not be registered');
        await sleep(retryInMs, signal).catch(() => undefined);
      }
    }
    return undefined;
  }
}
