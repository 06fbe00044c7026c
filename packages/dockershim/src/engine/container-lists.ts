import { LIST_KEPT_MS, LISTS_FOLLOWED_MS, MAX_KEPT_LISTS } from '../limits.ts';
import type { ContainerFilter, EngineContainers } from './engine-containers.ts';
import type { EngineHttp } from './engine-http.ts';
import type { ContainerSummary } from './engine-types.ts';

type KeptList = { found: ContainerSummary[]; change: string; atMs: number };

/**
 * After these a list may say something else (Docker Engine API, "Monitor events"), of containers and of images, whose names are in it;
 * those of execs are left out.
 */
const CHANGES = {
  container: ['create', 'start', 'die', 'destroy', 'pause', 'unpause', 'rename', 'update'],
  image: ['pull', 'load', 'import', 'tag', 'untag', 'delete'],
};

/**
 * Lists of containers that are asked for again and again: an Engine takes longer for one than all else of the call. A list is kept
 * for some seconds, while the Engine's events are followed and tell of no change, and while this process changes nothing itself.
 */
export class ContainerLists {
  readonly #http: EngineHttp;
  readonly #containers: EngineContainers;
  readonly #kept = new Map<string, KeptList>();
  /** Grows with each event, and with each beginning of a stream of them. */
  #events = 0;
  #isFollowing = false;
  #isClosed = false;
  #stop: AbortController | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(http: EngineHttp, containers: EngineContainers) {
    this.#http = http;
    this.#containers = containers;
  }

  /** As `EngineContainers.list`; what is given belongs to all who ask. */
  async list(filter: ContainerFilter, signal?: AbortSignal): Promise<readonly ContainerSummary[]> {
    this.#follow();
    const key = JSON.stringify(filter);
    const change = this.#change();
    const kept = this.#kept.get(key);
    if (kept !== undefined && kept.change === change && performance.now() - kept.atMs < LIST_KEPT_MS) return kept.found;
    const atMs = performance.now();
    const found = await this.#containers.list(filter, signal);
    if (change !== undefined && change === this.#change()) this.#keep(key, { found, change, atMs });
    return found;
  }

  /** Ends the following of events. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#idle);
    this.#stop?.abort();
  }

  /** The same twice if nothing has changed meanwhile; nothing where that is not known. */
  #change(): string | undefined {
    const { changes, isChanging } = this.#http;
    return this.#isFollowing && !isChanging ? `${changes} ${this.#events}` : undefined;
  }

  #keep(key: string, list: KeptList): void {
    if (this.#kept.size >= MAX_KEPT_LISTS) this.#kept.clear();
    this.#kept.set(key, list);
  }

  #follow(): void {
    if (this.#isClosed) return;
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.#stop?.abort(), LISTS_FOLLOWED_MS).unref();
    if (this.#stop !== undefined) return;
    this.#stop = new AbortController();
    // without it every list is asked for, and the next one tries again
    void this.#read(this.#stop.signal)
      .catch(() => undefined)
      .finally(() => {
        this.#stop = undefined;
        this.#isFollowing = false;
        this.#kept.clear();
      });
  }

  async #read(signal: AbortSignal): Promise<void> {
    // since now: the Engine's answer begins before it listens
    const since = (Date.now() / 1000).toFixed(6);
    const filters = { type: Object.keys(CHANGES), event: Object.values(CHANGES).flat() };
    const query = { filters: JSON.stringify(filters), since };
    const stream = await this.#http.stream({ what: 'follow changes', method: 'GET', path: '/events', query, signal });
    this.#events++;
    this.#isFollowing = true;
    for await (const _chunk of stream) this.#events++;
  }
}
