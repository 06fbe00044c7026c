import { LIST_CACHE_MS, LISTS_FOLLOWED_MS, MAX_CACHED_LISTS } from '../limits.ts';
import type { ContainerFilter, EngineContainers } from './engine-containers.ts';
import type { EngineHttp } from './engine-http.ts';
import type { ContainerSummary } from './engine-types.ts';

type CachedList = { found: ContainerSummary[]; change: string; atMs: number };

/**
 * Events that invalidate cached lists (Docker Engine API, "Monitor events"): those of containers, and of images, because lists contain
 * image names. Events of execs do not invalidate lists.
 */
const CHANGES = {
  container: ['create', 'start', 'die', 'destroy', 'pause', 'unpause', 'rename', 'update'],
  image: ['pull', 'load', 'import', 'tag', 'untag', 'delete'],
};

/**
 * Caches lists of containers, because a list is the slowest part of a call. A list is cached for some seconds, as long as the event stream
 * is open and reports no change, and this process itself changes nothing.
 */
export class ContainerLists {
  readonly #http: EngineHttp;
  readonly #containers: EngineContainers;
  readonly #cache = new Map<string, CachedList>();
  /** Incremented by each event, and when an event stream starts. */
  #events = 0;
  #isFollowing = false;
  #isClosed = false;
  #stop: AbortController | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(http: EngineHttp, containers: EngineContainers) {
    this.#http = http;
    this.#containers = containers;
  }

  /** Like `EngineContainers.list`, but all callers share the result. */
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

  /** A token that stays the same while nothing changes; `undefined` while changes would go unnoticed. */
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
    // without the stream every list is requested from the Engine, and the next list tries to open the stream again
    void this.#read(this.#stop.signal)
      .catch(() => undefined)
      .finally(() => {
        this.#stop = undefined;
        this.#isFollowing = false;
        this.#cache.clear();
      });
  }

  async #read(signal: AbortSignal): Promise<void> {
    // `since` covers the events between the head of the Engine's response and its subscription
    const since = (Date.now() / 1000).toFixed(6);
    const filters = { type: Object.keys(CHANGES), event: Object.values(CHANGES).flat() };
    const query = { filters: JSON.stringify(filters), since };
    const stream = await this.#http.stream({ what: 'follow changes', method: 'GET', path: '/events', query, signal });
    this.#events++;
    this.#isFollowing = true;
    for await (const _chunk of stream) this.#events++;
  }
}
