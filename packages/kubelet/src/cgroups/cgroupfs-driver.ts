import { writeFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CONTAINER_DIRECTORY, errorMessage, isErrno, type Logger, wrapError } from '@podwright/base';
import {
  type CgroupHierarchy,
  type CgroupLimits,
  cgroupDirectory,
  cgroupExists,
  createCgroup,
  killCgroup,
  limitWrites,
  listChildCgroups,
  removeCgroup,
  treeOf,
} from '@podwright/host';
import type { CgroupDriver, CgroupName } from './cgroup-driver.ts';

const CONTROLLERS = ['cpu', 'memory', 'pids', 'hugetlb'] as const;

export type CgroupfsDriverInput = { hierarchy: CgroupHierarchy; root: string; logger: Logger };

/** Manages cgroups under `root` by writing to the cgroup file system. */
export class CgroupfsDriver implements CgroupDriver {
  readonly #hierarchy: CgroupHierarchy;
  /**
   * The hierarchies in which limits are set. In the others, the container runtime creates the cgroup directories along with the first
   * container.
   */
  readonly #limited: CgroupHierarchy;
  readonly #root: string;
  readonly #logger: Logger;
  /** Unavailable controllers that have already been logged, in the form `DIRECTORY CONTROLLER`. */
  readonly #refused = new Set<string>();
  /** Cgroups whose children already have the controllers enabled. */
  readonly #delegating = new Set<string>();

  constructor({ hierarchy, root, logger }: CgroupfsDriverInput) {
    const trees = CONTROLLERS.map((name) => treeOf(hierarchy, name)).filter((tree) => tree !== undefined);
    this.#hierarchy = hierarchy;
    this.#limited = { ...hierarchy, trees: [...new Set(trees)] };
    this.#root = root;
    this.#logger = logger;
  }

  path(cgroup: CgroupName): string {
    return join(this.#root, ...cgroup);
  }

  async set(cgroup: CgroupName, limits: CgroupLimits): Promise<void> {
    const path = this.path(cgroup);
    this.#delegating.delete(path); // the cgroup may have been removed and created again since
    if (await this.#makeNew(path)) setNewLimits(this.#limited, path, limits);
    else {
      await this.#makeReady(path);
      await writeLimits(this.#limited, path, limits);
    }
  }

  /**
   * Fast path for creating a cgroup: if its parent has enabled all controllers for its children, a single mkdir suffices. Returns false
   * otherwise.
   */
  async #makeNew(path: string): Promise<boolean> {
    if (!this.#delegating.has(dirname(path))) return false;
    const directories = this.#limited.trees.map((tree) => cgroupDirectory(tree, path));
    const made = await Promise.allSettled(directories.map((one) => mkdir(one, { mode: CONTAINER_DIRECTORY })));
    return made.every(({ status }) => status === 'fulfilled');
  }

  async #makeReady(path: string): Promise<void> {
    for (const { directory, controller, error } of await createCgroup(this.#limited, path)) {
      const key = `${directory} ${controller}`;
      if (!CONTROLLERS.some((name) => name === controller) || this.#refused.has(key)) continue;
      this.#refused.add(key);
      const fields = { directory, controller, error: errorMessage(error) };
      this.#logger.warn(fields, 'the kernel keeps a controller from the cgroups of pods; its limits do not hold');
    }
    this.#delegating.add(dirname(path));
  }

  isThere(cgroup: CgroupName): Promise<boolean> {
    return cgroupExists({ ...this.#limited, trees: this.#limited.trees.slice(0, 1) }, this.path(cgroup));
  }

  async remove(cgroup: CgroupName): Promise<void> {
    await removeCgroup(this.#hierarchy, this.path(cgroup));
  }

  async end(cgroup: CgroupName): Promise<void> {
    await killCgroup(this.#hierarchy, this.path(cgroup));
    await this.remove(cgroup);
  }

  children(cgroup: CgroupName): Promise<string[]> {
    return listChildCgroups(this.#hierarchy, this.path(cgroup));
  }

  written(name: string): string {
    return name;
  }
}

/**
 * Writes limits to an existing cgroup. Asynchronous, because the kernel reclaims memory during the write if a limit is below current usage.
 */
export async function writeLimits(hierarchy: CgroupHierarchy, path: string, limits: CgroupLimits): Promise<void> {
  for (const { target, value } of limitFiles(hierarchy, path, limits))
    await writeFile(target, value, { flag: 'r+' }).catch((error: unknown) => refuse(target, value, error));
}

/**
 * Writes limits to a new, empty cgroup. Synchronous, because such a write takes only microseconds, less than a round trip through the
 * thread pool.
 */
function setNewLimits(hierarchy: CgroupHierarchy, path: string, limits: CgroupLimits): void {
  for (const { target, value } of limitFiles(hierarchy, path, limits)) {
    try {
      writeFileSync(target, value, { flag: 'r+' });
    } catch (error) {
      refuse(target, value, error);
    }
  }
}

function limitFiles(hierarchy: CgroupHierarchy, path: string, limits: CgroupLimits) {
  const writes = [...limitWrites(hierarchy, limits), ...reservedPages(hierarchy, limits)];
  return writes.map(({ tree, file, value }) => ({ target: join(cgroupDirectory(tree, path), file), value }));
}

/**
 * Throws the wrapped error of a failed limit write, unless the limit's file is missing: the kernel then lacks the feature (such as CFS
 * bandwidth), so, as in upstream, the limit is not enforced.
 */
function refuse(target: string, value: string, error: unknown): void {
  if (!isErrno(error, 'ENOENT')) throw wrapError(`write ${value} to ${target}`, error, 'internal');
}

/** Returns the additional writes that limit reserved but unused huge pages, on kernels that have separate files for them (hugetlb.rst). */
function reservedPages(hierarchy: CgroupHierarchy, { hugepageLimits = {} }: CgroupLimits) {
  const tree = treeOf(hierarchy, 'hugetlb');
  if (tree === undefined) return [];
  const file = tree.version === 1 ? 'rsvd.limit_in_bytes' : 'rsvd.max';
  return Object.entries(hugepageLimits).map(([size, bytes]) => ({
    tree,
    file: `hugetlb.${size}.${file}`,
    value: String(bytes),
  }));
}
