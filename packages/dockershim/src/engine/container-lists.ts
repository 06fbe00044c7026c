import { LIST_CACHE_MS, LISTS_FOLLOWED_MS, MAX_CACHED_LISTS } from '../limits.ts';
import type { ContainerFilter, EngineContainers } from './engine-containers.ts';
import type { EngineHttp } from './engine-http.ts';
import type { ContainerSummary } from './engine-types.ts';

type CachedList = { found: ContainerSummary[]; change: string; atMs: number };

/**
 * Events that invalidate cached lists (Docker Engine API, "Monitor events"): container events, and image events, because lists contain
 * image names. Exec events do not invalidate lists.
 */
const CHANGES = {
  container: ['create', 'start', 'die', 'destroy', 'pause', 'unpause', 'rename', 'update'],
  image: ['pull', 'load', 'import', 'tag', 'untag', 'delete'],
};

/**
 * Caches container lists, because fetching one is the slowest part of a call. A list is valid for a few seconds, as long as the event
 * stream is open and reports no change, and this process makes none itself.
 */
export class ContainerLists {
  readonly #http: EngineHttp;
  readonly #containers: EngineContainers;
  readonly #cache = new Map<string, CachedList>();
  /** Counter that is incremented on each event and whenever an event stream opens. */
  #events = 0;
  #isFollowing = false;
  #isClosed = false;
  #stop: AbortController | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(http: EngineHttp, containers: EngineContainers) {
    this.#http = http;
    this.#containers = containers;
  }

  /** Like `EngineContainers.list`, but the result is shared by all callers. */
  async list(filter: ContainerFilter, signal?: AbortSignal): Promise<readonly ContainerSummary[]> {
    this.#follow();
    const key = JSON.stringify(filter);
    const change = this.#change();
    const cached = this.#cache.get(key);
    if (cached !== undefined && cached.change === change && performance.now() - cached.atMs < LIST_CACHE_MS)
      return cached.found;
    const atMs = performance.now();
    const found = await this.#containers.list(filter, signal);
    if (change !== undefined && change === this.#change()) this.#store(key, { found, change, atMs });
    return found;
  }

  /** Closes the event stream. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#idle);
    this.#stop?.abort();
  }

  /**
   * Returns a token that stays the same until a container or image changes. Returns `undefined` while changes could be missed, because the
   * event stream is not open or this process is making a change.
   */
  #change(): string | undefined {
    const { changes, isChanging } = this.#http;
    return this.#isFollowing && !isChanging ? `${changes} ${this.#events}` : undefined;
  }

  #store(key: string, list: CachedList): void {
    if (this.#cache.size >= MAX_CACHED_LISTS) this.#cache.clear();
    this.#cache.set(key, list);
  }

  #follow(): void {
    if (this.#isClosed) return;
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.#stop?.abort(), LISTS_FOLLOWED_MS).unref();
    if (this.#stop !== undefined) return;
    this.#stop = new AbortController();
    // without the stream, every list is requested from the Engine, and the next such request tries to reopen the stream
    void this.#read(this.#stop.signal)
      .catch(() => undefined)
      .finally(() => {
        this.#stop = undefined;
        this.#isFollowing = false;
        this.#cache.clear();
      });
  }

  async #read(signal: AbortSignal): Promise<void> {
    // `since` makes the stream include events between this request and the Engine's subscription to events
    const since = (Date.now() / 1000).toFixed(6);
    const filters = { type: Object.keys(CHANGES), event: Object.values(CHANGES).flat() };
    const query = { filters: JSON.stringify(filters), since };
    const stream = await this.#http.stream({ what: 'follow changes', method: 'GET', path: '/events', query, signal });
    this.#events++;
    this.#isFollowing = true;
    for await (const _chunk of stream) this.#events++;
  }
}
