import { Backoff, type BackoffPolicy, errorMessage, PodwrightError, sleep } from '@podwright/base';
import type { KubeObject } from '@podwright/kube-api';
import { ApiStatusError, isApiStatus } from '../api-status-error.ts';
import type { Informer, InformerChange, InformerOptions } from '../informer.ts';
import type { KubeClient, Selection, WatchEvent } from '../kube-client.ts';
import { VERY_SHORT_WATCH_MS, WATCH_BACKOFF, WATCH_SECONDS } from '../limits.ts';
import { isConnectionLost, isConnectionRefused } from '../transport/connection-error.ts';
import { type FirstObjects, type InitialTimes, listAll, readInitialEvents } from './first-objects.ts';
import { ObjectStore } from './object-store.ts';
import { newerVersion } from './resource-version.ts';

/** Overrides for tests: the backoff after failures, and the time limits for the initial objects. */
export type InformerTiming = InitialTimes & { backoff?: BackoffPolicy };

/** Starts an informer, which runs until stopped. Uses the same protocol and backoff as client-go's reflector. */
export function startInformer<T extends KubeObject>(
  client: KubeClient,
  options: InformerOptions<T>,
  timing: InformerTiming = {},
): Informer<T> {
  const informer = new WatchingInformer<T>(client, options, timing);
  void informer.run();
  return informer;
}

type Watch<T extends KubeObject> = { events: AsyncIterator<WatchEvent<T>>; openedAtMs: number; end(): void };

class WatchingInformer<T extends KubeObject> implements Informer<T> {
  readonly synced: Promise<void>;
  readonly #client: KubeClient;
  readonly #options: InformerOptions<T>;
  readonly #timing: InformerTiming;
  readonly #backoff: Backoff;
  readonly #store = new ObjectStore<T>();
  readonly #stopping = new AbortController();
  readonly #sync = Promise.withResolvers<void>();
  #resting = new AbortController();
  #watch: Watch<T> | undefined;
  #hasSynced = false;
  #problem: string | undefined;
  /** The resource version from which the next watch continues. */
  #version: string | undefined;
  /**
   * True if `#version` has expired on the server or is newer than the server's latest version. Either way, the next list must request the
   * latest version instead of `#version`.
   */
  #isVersionUnavailable = false;
  /** True if no attempt has reached the server since the last list. */
  #isUnreachable = false;

  constructor(client: KubeClient, options: InformerOptions<T>, timing: InformerTiming) {
    this.#client = client;
    this.#options = options;
    this.#timing = timing;
    this.#backoff = new Backoff(timing.backoff ?? WATCH_BACKOFF);
    this.synced = this.#sync.promise;
    this.synced.catch(() => undefined); // callers need not handle the rejection
  }

  async run(): Promise<void> {
    while (!this.#isStopped) {
      try {
        await this.#watchOn(await this.#readFirst());
      } catch (error) {
        this.#fail(error);
      } finally {
        this.#endWatch();
      }
      await this.#pause();
    }
  }

  hasSynced(): boolean {
    return this.#hasSynced;
  }

  get(place: { namespace?: string; name: string }): T | undefined {
    return this.#store.get(place);
  }

  list(): T[] {
    return this.#store.list();
  }

  problem(): string | undefined {
    return this.#problem;
  }

  /** Ends the watch and any current backoff, and relists all objects immediately. Called when the server is known to be reachable. */
  reread(): void {
    this.#isVersionUnavailable = true;
    this.#backoff.forget('');
    this.#resting.abort();
    this.#endWatch();
  }

  stop(): void {
    const reason = new PodwrightError('cancelled', `the informer of ${this.#options.resource.plural} was stopped`);
    this.#stopping.abort(reason);
    this.#endWatch();
    this.#sync.reject(reason);
    this.#options.onStop?.();
  }

  get #isStopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** Reads the objects with a watch that sends initial events, or lists them if the server rejects such watches. */
  async #readFirst(): Promise<Watch<T> | undefined> {
    while (!this.#isStopped) {
      const isRestart = this.#isVersionUnavailable;
      try {
        const watch = this.#open({ sendInitialEvents: true, resourceVersion: isRestart ? undefined : this.#version });
        this.#replace(await readInitialEvents(watch.events, this.#timing), isRestart);
        return watch;
      } catch (error) {
        this.#endWatch();
        this.#fail(error);
        if (isVersionExpired(error)) this.#isVersionUnavailable = true;
        else if (!isToRepeat(error)) break;
        if (isRestart || !isVersionExpired(error)) await this.#pause();
      }
    }
    if (!this.#isStopped) await this.#list();
    return undefined;
  }

  async #list(): Promise<void> {
    const { resource } = this.#options;
    const read = (resourceVersion: string) =>
      listAll<T>(
        this.#client,
        { resource, selection: selectionOf(this.#options), resourceVersion },
        this.#stopping.signal,
      );
    if (!this.#isVersionUnavailable) {
      try {
        return this.#replace(await read(this.#version ?? '0'), false);
      } catch (error) {
        if (!isVersionExpired(error)) throw error;
        this.#isVersionUnavailable = true;
      }
    }
    this.#replace(await read(''), true);
  }

  /** Runs one watch after another, as long as each can continue where the previous one ended. */
  async #watchOn(first: Watch<T> | undefined): Promise<void> {
    for (let watch = first; !this.#isStopped && !this.#isVersionUnavailable; watch = undefined) {
      let eventCount = 0;
      try {
        watch ??= this.#open({ resourceVersion: this.#version });
        for (let next = await watch.events.next(); !next.done; next = await watch.events.next()) {
          eventCount++;
          this.#take(next.value);
        }
        if (eventCount === 0 && isShort(watch))
          throw new PodwrightError('unavailable', 'the server ended the watch at once');
      } catch (error) {
        this.#fail(error);
        const canContinue = isToRepeat(error) || (isConnectionLost(error) && (eventCount > 0 || !isShort(watch)));
        if (!canContinue) throw error;
        if (isToRepeat(error)) await this.#pause();
      } finally {
        this.#endWatch();
      }
      if (eventCount > 0 && isShort(watch)) await this.#pause();
    }
  }

  #open(from: { sendInitialEvents?: boolean; resourceVersion?: string }): Watch<T> {
    const { resource, watchSeconds: { least, most } = WATCH_SECONDS } = this.#options;
    const ending = new AbortController();
    const events = this.#client.watch<T>(
      resource,
      {
        ...selectionOf(this.#options),
        ...from,
        timeoutSeconds: Math.round(least + Math.random() * (most - least)),
        onOpen: () => {
          this.#problem = undefined;
        },
      },
      ending.signal,
    );
    const end = () => ending.abort(new PodwrightError('cancelled', 'the watch is no longer needed'));
    this.#watch = { events: events[Symbol.asyncIterator](), openedAtMs: performance.now(), end };
    return this.#watch;
  }

  #endWatch(): void {
    this.#watch?.end();
    this.#watch = undefined;
  }

  #take({ type, object }: WatchEvent<T>): void {
    if (type !== 'BOOKMARK') this.#report(this.#store.apply(type, object));
    this.#version = newerVersion(this.#version, object.metadata.resourceVersion);
    this.#reportProgress();
  }

  #replace({ objects, resourceVersion }: FirstObjects<T>, isRestart: boolean): void {
    if (this.#isStopped) return;
    this.#report(this.#store.replace(objects, isRestart));
    this.#version = isRestart ? resourceVersion : newerVersion(this.#version, resourceVersion);
    if (isRestart) this.#isVersionUnavailable = false;
    this.#isUnreachable = false;
    this.#problem = undefined;
    this.#hasSynced = true;
    this.#reportProgress();
    this.#sync.resolve();
  }

  #report(changes: InformerChange<T>[]): void {
    for (const change of changes) if (!this.#isStopped) this.#options.onChange?.(change);
  }

  #reportProgress(): void {
    if (this.#version !== undefined && !this.#isStopped) this.#options.onProgress?.(this.#version);
  }

  /**
   * Records a failed attempt. Resets the backoff if the server responded that `#version` is not available, as after an outage, because the
   * server is then reachable again.
   */
  #fail(error: unknown): void {
    if (this.#isStopped) return;
    if (!(error instanceof ApiStatusError)) this.#isUnreachable = true;
    else if (this.#isUnreachable && isVersionExpired(error)) {
      this.#isUnreachable = false;
      this.#backoff.forget('');
    }
    this.#problem = errorMessage(error);
  }

  /** Waits for the backoff with jitter (a random factor of up to 2), so that clients do not all reconnect to a restarted server at once. */
  async #pause(): Promise<void> {
    this.#resting = new AbortController();
    const { maxMs } = this.#timing.backoff ?? WATCH_BACKOFF;
    const delayMs = Math.min(maxMs, this.#backoff.next('') * (1 + Math.random()));
    await sleep(delayMs, AbortSignal.any([this.#stopping.signal, this.#resting.signal])).catch(() => undefined);
  }
}

function selectionOf({ namespace, fieldSelector, labelSelector }: Selection) {
  return { namespace, fieldSelector, labelSelector };
}

/** Whether to retry the same request later: the connection was refused, or the server is overloaded. */
function isToRepeat(error: unknown): boolean {
  return isConnectionRefused(error) || isApiStatus(error, 429);
}

/**
 * Whether the server rejected the requested resource version, because the version has expired or because the server has not reached it yet
 * (after a restore from a backup).
 */
function isVersionExpired(error: unknown): boolean {
  if (isApiStatus(error, 410) || isApiStatus(error, 'Expired') || isApiStatus(error, 'Gone')) return true;
  if (!isApiStatus(error, 504) && !isApiStatus(error, 'Timeout')) return false;
  const { causes = [], message } = error.status;
  return (
    causes.some(({ reason }) => reason === 'ResourceVersionTooLarge') || message.includes('Too large resource version')
  );
}

function isShort(watch: { openedAtMs: number } | undefined): boolean {
  return watch === undefined || performance.now() - watch.openedAtMs < VERY_SHORT_WATCH_MS;
}
