/** Chooses CPUs for a container. Pure; chooses the same CPUs as upstream's CPU manager. */
import { PodwrightError } from '@podwright/base';
import type { Cpu } from '../topology/machine.ts';

export type TakeRequest = {
  /** All CPUs of the host. */
  cpus: Cpu[];
  available: number[];
  count: number;
  /** Order of preference: `packed` takes whole cores first; `spread` prefers CPUs on different cores. */
  order: 'packed' | 'spread';
  /** Whether to prefer CPUs that share a last-level cache. */
  byCache: boolean;
};

type Level = 'node' | 'socket' | 'core' | 'cache';

/**
 * Takes whole NUMA nodes and sockets as long as they fit into the request, then whole cores, then single CPUs. At each level, takes groups
 * with the fewest free CPUs first. Throws `resource_exhausted` if there are not enough CPUs.
 */
export function takePacked(request: TakeRequest): number[] {
  const { available, count } = request;
  if (count < 1) return [];
  const pool = new FreeCpus(request);
  if (pool.free.length < count) throw notEnough(count, available.length);
  for (const level of pool.levels) pool.takeWhole(level);
  if (request.byCache) pool.takeByCache();
  if (request.order === 'packed') pool.takeWhole('core');
  for (const cpu of pool.inOrder()) pool.take([cpu]);
  return pool.taken.sort((a, b) => a - b);
}

export function notEnough(requested: number, available: number): PodwrightError {
  const what = 'not enough cpus available to satisfy request';
  return new PodwrightError('resource_exhausted', `${what}: requested=${requested}, available=${available}`);
}

/** Returns the NUMA nodes in the order in which `takePacked` takes CPUs from them. */
export function nodesInOrder(request: TakeRequest): number[] {
  return new FreeCpus(request).groups('node');
}

class FreeCpus {
  /** Topology levels from the outside in: either NUMA nodes contain sockets, or sockets contain NUMA nodes. */
  readonly levels: ['node', 'socket'] | ['socket', 'node'];
  readonly taken: number[] = [];
  free: Cpu[];
  readonly #request: TakeRequest;

  constructor(request: TakeRequest) {
    const available = new Set(request.available);
    this.#request = request;
    this.free = request.cpus.filter(({ id }) => available.has(id));
    const nodesAreWide = countOf(request.cpus, 'socket') >= countOf(request.cpus, 'node');
    this.levels = nodesAreWide ? ['node', 'socket'] : ['socket', 'node'];
  }

  get #needed(): number {
    return this.#request.count - this.taken.length;
  }

  /** Takes all of these CPUs, or none if that would exceed the request. */
  take(cpus: Cpu[]): void {
    if (cpus.length > this.#needed) return;
    const ids = new Set(cpus.map(({ id }) => id));
    this.taken.push(...ids);
    this.free = this.free.filter(({ id }) => !ids.has(id));
  }

  /** Takes groups that are completely free and no larger than the rest of the request. */
  takeWhole(level: Level): void {
    for (const group of this.#wholeGroups(level)) this.take(this.#members(this.free, level, group));
  }

  #wholeGroups(level: Level): number[] {
    const all = (group: number) => this.#members(this.#request.cpus, level, group).length;
    return this.groups(level).filter((group) => this.#members(this.free, level, group).length === all(group));
  }

  /** Takes the CPUs of whole last-level caches first, then the remaining CPUs from the first cache with enough free cores. */
  takeByCache(): void {
    const { cpus } = this.#request;
    const perCache = Math.floor(cpus.length / countOf(cpus, 'cache'));
    const perCore = Math.floor(cpus.length / countOf(cpus, 'core'));
    for (const cache of this.groups('cache')) {
      if (this.#needed >= perCache) this.takeWhole('cache');
      if (this.#needed < 1) return;
      this.#takePartOf(cache, perCore);
    }
  }

  #takePartOf(cache: number, perCore: number): void {
    const members = this.#members(this.free, 'cache', cache);
    const cores = idsOf(members, 'core')
      .sort((a, b) => a - b)
      .slice(0, Math.ceil(this.#needed / perCore));
    const own = this.free.filter(({ core }) => cores.includes(core)).sort((a, b) => a.id - b.id);
    const isOdd = this.#needed % 2 !== 0 && perCore > 1 && own.length > this.#needed;
    const part = isOdd ? own.slice(0, -1) : own;
    if (part.length === this.#needed) this.take(part);
  }

  /** Returns the free CPUs in the order in which single CPUs are taken. */
  inOrder(): Cpu[] {
    const level = this.#request.order === 'packed' ? 'core' : 'socket';
    return this.groups(level).flatMap((group) => this.#members(this.free, level, group).sort((a, b) => a.id - b.id));
  }

  /** Returns the groups that have free CPUs, ordered by parent group, then by number of free CPUs (ascending). */
  groups(level: Level): number[] {
    const above = {
      [this.levels[0]]: undefined,
      [this.levels[1]]: this.levels[0],
      core: this.levels[1],
      cache: 'node',
    };
    const parent = above[level] as Level | undefined;
    if (parent === undefined) return this.#sorted(this.free, level);
    const within = (group: number) => this.#sorted(this.#members(this.free, parent, group), level);
    return [...new Set(this.groups(parent).flatMap(within))];
  }

  #sorted(cpus: Cpu[], level: Level): number[] {
    const size = (group: number) => this.#members(this.free, level, group).length;
    return idsOf(cpus, level).sort((a, b) => size(a) - size(b) || a - b);
  }

  #members(cpus: Cpu[], level: Level, group: number): Cpu[] {
    return cpus.filter((cpu) => cpu[level] === group);
  }
}

const idsOf = (cpus: Cpu[], level: Level) => [...new Set(cpus.map((cpu) => cpu[level]))];

export const countOf = (cpus: Cpu[], level: Level) => idsOf(cpus, level).length;
