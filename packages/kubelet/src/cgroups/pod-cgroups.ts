/** A cgroup a pod, below one a QoS class, so that a pod's limits hold for all its containers together. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type CgroupHierarchy,
  cgroupDirectory,
  createCgroup,
  discoverCgroups,
  errorMessage,
  isErrno,
  type Logger,
  listChildCgroups,
  PodwrightError,
  removeCgroup,
  treeOf,
} from '@podwright/base';
import type { Pod, QosClass } from '../api/types.ts';
import type { PodCgroups } from '../pod/contract.ts';
import { cpuPeriodMicros, cpuQuota, cpuShares, cpuWeight } from './cpu.ts';
import { podTotals } from './pod-resources.ts';
import { qosClass } from './qos.ts';

const classFolders: Record<QosClass, string> = { Guaranteed: '', Burstable: 'burstable', BestEffort: 'besteffort' };

/** Leaves cgroups to the runtime. */
export const noPodCgroups: PodCgroups = {
  ensure: async () => undefined,
  parentFor: () => '',
  remove: async () => undefined,
  removeOrphans: async () => undefined,
};

/**
 * Pod cgroups below `<root>/kubepods`, or none (with a line in the log why) where cgroups cannot be written or the runtime's
 * driver is systemd, which makes its own.
 */
export async function openPodCgroups(
  root: string,
  driver: 'cgroupfs' | 'systemd',
  logger: Logger,
): Promise<PodCgroups> {
  if (root === '') return noPodCgroups;
  if (driver === 'systemd') {
    logger.info({ driver }, 'the runtime manages cgroups through systemd; pods get no cgroup of their own');
    return noPodCgroups;
  }
  try {
    const hierarchy = await discoverCgroups();
    if (hierarchy.trees.length === 0) throw new PodwrightError('failed_precondition', 'no cgroup tree is mounted');
    const cgroups = new CgroupfsPodCgroups(hierarchy, join(root, 'kubepods'));
    await cgroups.prepare();
    return cgroups;
  } catch (error) {
    logger.warn({ root, error: errorMessage(error) }, 'cgroups cannot be used; pods get no cgroup of their own');
    return noPodCgroups;
  }
}

class CgroupfsPodCgroups implements PodCgroups {
  readonly #hierarchy: CgroupHierarchy;
  /** The trees that limits are written in; the others get their folders from the runtime, with the first container. */
  readonly #limited: CgroupHierarchy;
  readonly #root: string;
  readonly #made = new Map<string, string>();
  /** Thousandths of a core that each Burstable pod asks for. */
  readonly #burstable = new Map<string, bigint>();

  constructor(hierarchy: CgroupHierarchy, root: string) {
    const trees = [treeOf(hierarchy, 'cpu'), treeOf(hierarchy, 'memory')].filter((tree) => tree !== undefined);
    this.#hierarchy = hierarchy;
    this.#limited = { ...hierarchy, trees: [...new Set(trees)] };
    this.#root = root;
  }

  async prepare(): Promise<void> {
    for (const folder of Object.values(classFolders)) await createCgroup(this.#limited, join(this.#root, folder));
    await this.#write(join(this.#root, classFolders.BestEffort), weightFor(0n));
    await this.#weighBurstable();
  }

  async ensure(pod: Pod): Promise<void> {
    const path = this.parentFor(pod);
    const limits = cgroupLimits(pod);
    const wanted = JSON.stringify([path, limits], (_key, value) => (typeof value === 'bigint' ? String(value) : value));
    if (this.#made.get(pod.metadata.uid) === wanted) return;
    await createCgroup(this.#limited, path);
    await this.#write(path, limits);
    if (qosClass(pod) === 'Burstable') {
      this.#burstable.set(pod.metadata.uid, podTotals(pod).milliCpuRequest);
      await this.#weighBurstable();
    }
    this.#made.set(pod.metadata.uid, wanted);
  }

  parentFor(pod: Pod): string {
    return join(this.#root, classFolders[qosClass(pod)], folderOf(pod.metadata.uid));
  }

  async remove(podUid: string): Promise<void> {
    this.#made.delete(podUid);
    if (this.#burstable.delete(podUid)) await this.#weighBurstable();
    for (const folder of Object.values(classFolders)) {
      await removeCgroup(this.#hierarchy, join(this.#root, folder, folderOf(podUid)));
    }
  }

  async removeOrphans(keep: ReadonlySet<string>): Promise<void> {
    for (const folder of Object.values(classFolders)) {
      const children = await listChildCgroups(this.#hierarchy, join(this.#root, folder));
      const orphans = children.filter((name) => name.startsWith('pod') && !keep.has(name.slice('pod'.length)));
      for (const name of orphans) await removeCgroup(this.#hierarchy, join(this.#root, folder, name));
    }
  }

  /** The class has the weight of all its pods, so that Guaranteed pods beside it keep what they asked for. */
  async #weighBurstable(): Promise<void> {
    const milliCpu = [...this.#burstable.values()].reduce((sum, one) => sum + one, 0n);
    await this.#write(join(this.#root, classFolders.Burstable), weightFor(milliCpu));
  }

  async #write(path: string, limits: CgroupLimits): Promise<void> {
    const writes = (['cpu', 'memory'] as const).flatMap((controller) => {
      const tree = treeOf(this.#limited, controller);
      if (tree === undefined) return [];
      const values = tree.version === 2 ? limits.v2[controller] : limits.v1[controller];
      const directory = cgroupDirectory(tree, path);
      return Object.entries(values).map(([file, value]) => writeLimit(join(directory, file), value));
    });
    await Promise.all(writes);
  }
}

function folderOf(podUid: string): string {
  if (!/^[\w-]{1,128}$/.test(podUid)) {
    throw new PodwrightError('invalid_argument', `name the cgroup of pod uid "${podUid}": not a plain word`);
  }
  return `pod${podUid}`;
}

/** A kernel without CFS bandwidth, say, has no such file: the limit is then not enforced, as in the kubelet. */
async function writeLimit(file: string, value: string): Promise<void> {
  try {
    await writeFile(file, value);
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error;
  }
}

type Files = Record<string, string>;
type CgroupLimits = { v1: { cpu: Files; memory: Files }; v2: { cpu: Files; memory: Files } };

/** The weight of a QoS class whose pods ask for so much CPU together. */
function weightFor(milliCpu: bigint): CgroupLimits {
  const shares = cpuShares(milliCpu);
  return {
    v1: { cpu: { 'cpu.shares': String(shares) }, memory: {} },
    v2: { cpu: { 'cpu.weight': String(cpuWeight(shares)) }, memory: {} },
  };
}

/** What to write where, for both versions of cgroups. */
export function cgroupLimits(pod: Pod): CgroupLimits {
  const { milliCpuRequest, milliCpuLimit, memoryLimitBytes } = podTotals(pod);
  const shares = cpuShares(milliCpuRequest);
  const quota = cpuQuota(milliCpuLimit);
  const unlimited = quota === 0n;
  const memory = memoryLimitBytes === 0n;
  return {
    v1: {
      cpu: {
        'cpu.shares': String(shares),
        'cpu.cfs_period_us': String(cpuPeriodMicros),
        'cpu.cfs_quota_us': unlimited ? '-1' : String(quota),
      },
      memory: { 'memory.limit_in_bytes': memory ? '-1' : String(memoryLimitBytes) },
    },
    v2: {
      cpu: {
        'cpu.weight': String(cpuWeight(shares)),
        'cpu.max': `${unlimited ? 'max' : quota} ${cpuPeriodMicros}`,
      },
      memory: { 'memory.max': memory ? 'max' : String(memoryLimitBytes) },
    },
  };
}
