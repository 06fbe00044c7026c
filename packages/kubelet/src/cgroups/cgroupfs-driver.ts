import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type CgroupHierarchy,
  type CgroupLimits,
  cgroupDirectory,
  cgroupExists,
  createCgroup,
  errorMessage,
  isErrno,
  killCgroup,
  type Logger,
  limitWrites,
  listChildCgroups,
  removeCgroup,
  treeOf,
  wrapError,
} from '@podwright/base';
import type { CgroupDriver, CgroupName } from './cgroup-driver.ts';

/** The controllers that pods and classes are limited by. */
const CONTROLLERS = ['cpu', 'memory', 'pids', 'hugetlb'] as const;

export type CgroupfsDriverInput = { hierarchy: CgroupHierarchy; root: string; logger: Logger };

/** Writes into the kernel's cgroups below `root`. */
export class CgroupfsDriver implements CgroupDriver {
  readonly #hierarchy: CgroupHierarchy;
  /** The trees that limits are written in; the others get their directories from the runtime, with the first container. */
  readonly #limited: CgroupHierarchy;
  readonly #root: string;
  readonly #logger: Logger;
  /** Refusals that are in the log. */
  readonly #refused = new Set<string>();

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
    for (const { directory, controller, error } of await createCgroup(this.#limited, path)) {
      const key = `${directory} ${controller}`;
      if (!CONTROLLERS.some((name) => name === controller) || this.#refused.has(key)) continue;
      this.#refused.add(key);
      const fields = { directory, controller, error: errorMessage(error) };
      this.#logger.warn(fields, 'the kernel keeps a controller from the cgroups of pods; its limits do not hold');
    }
    await writeLimits(this.#limited, path, limits);
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
 * Writes limits into a cgroup that is there. A kernel without CFS bandwidth, say, has no such file: the limit is then not enforced, as
 * in upstream's kubelet.
 */
export async function writeLimits(hierarchy: CgroupHierarchy, path: string, limits: CgroupLimits): Promise<void> {
  for (const { tree, file, value } of [...limitWrites(hierarchy, limits), ...reservedPages(hierarchy, limits)]) {
    const target = join(cgroupDirectory(tree, path), file);
    await writeFile(target, value, { flag: 'r+' }).catch((error: unknown) => {
      if (!isErrno(error, 'ENOENT')) throw wrapError(`write ${value} to ${target}`, error, 'internal');
    });
  }
}

/** Huge pages that a process has reserved but not touched count where the kernel counts these apart (hugetlb.rst). */
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
