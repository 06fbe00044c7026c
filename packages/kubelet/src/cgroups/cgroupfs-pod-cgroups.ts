/** A cgroup a pod, below one a QoS class, so that a pod's limits hold for all its containers together. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type CgroupHierarchy,
  cgroupDirectory,
  createCgroup,
  errorMessage,
  isErrno,
  type Logger,
  listChildCgroups,
  PodwrightError,
  readCgroupFile,
  removeCgroup,
  setCgroupLimits,
  treeOf,
} from '@podwright/base';
import type { Pod, QosClass } from '../api/types.ts';
import { CPU_PERIOD_MICROS, cpuQuota, cpuShares, cpuWeight } from './cpu.ts';
import type { EnforcedLimits, PodCgroups } from './pod-cgroups.ts';
import { noPodCgroups } from './pod-cgroups.ts';
import { podTotals } from './pod-resources.ts';
import { qosClass } from './qos.ts';
import { SystemdPodCgroups } from './systemd-pod-cgroups.ts';

const CLASS_DIRECTORIES: Record<QosClass, string> = {
  Guaranteed: '',
  Burstable: 'burstable',
  BestEffort: 'besteffort',
};

/** The controllers that pods and classes are limited by. */
const CONTROLLERS = ['cpu', 'memory', 'pids'] as const;

export type PodCgroupsInput = {
  /** The cgroup above `kubepods`, '' to leave cgroups to the runtime. */
  root: string;
  driver: 'cgroupfs' | 'systemd';
  /** `undefined` on a host without cgroups. */
  hierarchy: CgroupHierarchy | undefined;
  limits: EnforcedLimits;
  logger: Logger;
};

/**
 * Pod cgroups below `<root>/kubepods`, slices where the runtime's driver is systemd, or none (with a line in the log why) where
 * cgroups cannot be made.
 */
export async function openPodCgroups({ root, driver, hierarchy, ...given }: PodCgroupsInput): Promise<PodCgroups> {
  const { limits, logger } = given;
  if (root === '') return noPodCgroups;
  try {
    if (hierarchy === undefined) throw new PodwrightError('failed_precondition', 'no cgroup tree is mounted');
    const cgroups =
      driver === 'systemd'
        ? new SystemdPodCgroups({ hierarchy, root, limits, logger })
        : new CgroupfsPodCgroups({ hierarchy, root: join(root, 'kubepods'), limits, logger });
    await cgroups.prepare();
    return cgroups;
  } catch (error) {
    logger.warn({ root, error: errorMessage(error) }, 'cgroups cannot be used; pods get no cgroup of their own');
    return noPodCgroups;
  }
}

class CgroupfsPodCgroups implements PodCgroups {
  enforced: EnforcedLimits;
  readonly #hierarchy: CgroupHierarchy;
  /** The trees that limits are written in; the others get their directories from the runtime, with the first container. */
  readonly #limited: CgroupHierarchy;
  readonly #root: string;
  readonly #logger: Logger;
  /** Refusals that are in the log. */
  readonly #refused = new Set<string>();
  readonly #made = new Map<string, string>();
  /** Thousandths of a core that each Burstable pod asks for. */
  readonly #burstable = new Map<string, bigint>();

  constructor({ hierarchy, root, limits, logger }: Omit<PodCgroupsInput, 'driver'> & { hierarchy: CgroupHierarchy }) {
    const trees = CONTROLLERS.map((name) => treeOf(hierarchy, name)).filter((tree) => tree !== undefined);
    this.enforced = limits;
    this.#logger = logger;
    this.#hierarchy = hierarchy;
    this.#limited = { ...hierarchy, trees: [...new Set(trees)] };
    this.#root = root;
  }

  async prepare(): Promise<void> {
    for (const name of Object.values(CLASS_DIRECTORIES)) await this.#create(join(this.#root, name));
    await this.#write(join(this.#root, CLASS_DIRECTORIES.BestEffort), weightFor(0n));
    await this.#weighBurstable();
    await this.#limitAll();
  }

  async ensure(pod: Pod): Promise<void> {
    const path = this.parentFor(pod);
    const limits = cgroupLimits(pod, this.enforced.pidsPerPod);
    const wanted = JSON.stringify([path, limits], (_key, value) => (typeof value === 'bigint' ? String(value) : value));
    if (this.#made.get(pod.metadata.uid) === wanted) return;
    await this.#create(path);
    await this.#write(path, limits);
    if (qosClass(pod) === 'Burstable') {
      this.#burstable.set(pod.metadata.uid, podTotals(pod).milliCpuRequest);
      await this.#weighBurstable();
    }
    this.#made.set(pod.metadata.uid, wanted);
  }

  parentFor(pod: Pod): string {
    return join(this.#root, CLASS_DIRECTORIES[qosClass(pod)], directoryOf(pod.metadata.uid));
  }

  async remove(podUid: string): Promise<void> {
    this.#made.delete(podUid);
    if (this.#burstable.delete(podUid)) await this.#weighBurstable();
    for (const directory of Object.values(CLASS_DIRECTORIES)) {
      await removeCgroup(this.#hierarchy, join(this.#root, directory, directoryOf(podUid)));
    }
  }

  async removeOrphans(keep: ReadonlySet<string>): Promise<void> {
    for (const directory of Object.values(CLASS_DIRECTORIES)) {
      const children = await listChildCgroups(this.#hierarchy, join(this.#root, directory));
      const orphans = children.filter((name) => name.startsWith('pod') && !keep.has(name.slice('pod'.length)));
      for (const name of orphans) await removeCgroup(this.#hierarchy, join(this.#root, directory, name));
    }
  }

  /** A controller that the kernel refuses is in the log: limits of it do not hold for pods. */
  async #create(path: string): Promise<void> {
    for (const { directory, controller, error } of await createCgroup(this.#limited, path)) {
      const key = `${directory} ${controller}`;
      if (!CONTROLLERS.some((name) => name === controller) || this.#refused.has(key)) continue;
      this.#refused.add(key);
      const fields = { directory, controller, error: errorMessage(error) };
      this.#logger.warn(fields, 'the kernel keeps a controller from the cgroups of pods; its limits do not hold');
    }
  }

  /** The class has the weight of all its pods, so that Guaranteed pods beside it keep what they asked for. */
  async #weighBurstable(): Promise<void> {
    const milliCpu = [...this.#burstable.values()].reduce((sum, one) => sum + one, 0n);
    await this.#write(join(this.#root, CLASS_DIRECTORIES.Burstable), weightFor(milliCpu));
  }

  /** Holds all pods together to what the node has for them, so that none of them can take the host from the node itself. */
  async #limitAll(): Promise<void> {
    const { memoryBytes = -1, pids = -1 } = this.enforced.allPods ?? {};
    try {
      await setCgroupLimits(this.#hierarchy, this.#root, { pidsLimit: pids });
      await this.#limitMemory(memoryBytes);
    } catch (error) {
      this.#logger.warn({ memoryBytes, pids, error: errorMessage(error) }, 'all pods together cannot be limited');
      this.enforced = { ...this.enforced, allPods: undefined };
    }
  }

  /**
   * Pods that run already may use more than that, if an earlier version of the node started them: the kernel refuses the limit on v1 (EBUSY), and
   * would end some of them for it on v2.
   */
  async #limitMemory(limitBytes: number): Promise<void> {
    const tree = treeOf(this.#hierarchy, 'memory');
    if (limitBytes >= 0 && tree?.version === 2) {
      const used = (await readCgroupFile(join(cgroupDirectory(tree, this.#root), 'memory.current'))) ?? '0';
      if (Number(used) > limitBytes)
        throw new PodwrightError(
          'failed_precondition',
          `limit pods to ${limitBytes} bytes: they use ${used.trim()} now`,
        );
    }
    await setCgroupLimits(this.#hierarchy, this.#root, { memoryLimitBytes: limitBytes });
  }

  async #write(path: string, limits: CgroupLimits): Promise<void> {
    const writes = CONTROLLERS.flatMap((controller) => {
      const tree = treeOf(this.#limited, controller);
      if (tree === undefined) return [];
      const values = (tree.version === 2 ? limits.v2 : limits.v1)[controller] ?? {};
      const directory = cgroupDirectory(tree, path);
      return Object.entries(values).map(([file, value]) => writeLimit(join(directory, file), value));
    });
    await Promise.all(writes);
  }
}

function directoryOf(podUid: string): string {
  if (!/^[\w.-]{1,128}$/.test(podUid)) {
    throw new PodwrightError(
      'invalid_argument',
      `name the cgroup of pod uid "${podUid}": only letters, digits, ".", "_" and "-" are allowed`,
    );
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
type ControllerFiles = { [name in (typeof CONTROLLERS)[number]]?: Files };
type CgroupLimits = { v1: ControllerFiles; v2: ControllerFiles };

/** The weight of a QoS class whose pods ask for so much CPU together. */
function weightFor(milliCpu: bigint): CgroupLimits {
  const shares = cpuShares(milliCpu);
  return {
    v1: { cpu: { 'cpu.shares': String(shares) } },
    v2: { cpu: { 'cpu.weight': String(cpuWeight(shares)) } },
  };
}

/** What to write where, for both versions of cgroups. */
export function cgroupLimits(pod: Pod, pidsLimit?: number): CgroupLimits {
  const { milliCpuRequest, milliCpuLimit, memoryLimitBytes } = podTotals(pod);
  const shares = cpuShares(milliCpuRequest);
  const quota = cpuQuota(milliCpuLimit);
  const unlimited = quota === 0n;
  const memory = memoryLimitBytes === 0n;
  const pids = { 'pids.max': String(pidsLimit ?? 'max') };
  return {
    v1: {
      cpu: {
        'cpu.shares': String(shares),
        'cpu.cfs_period_us': String(CPU_PERIOD_MICROS),
        'cpu.cfs_quota_us': unlimited ? '-1' : String(quota),
      },
      memory: { 'memory.limit_in_bytes': memory ? '-1' : String(memoryLimitBytes) },
      pids,
    },
    v2: {
      cpu: {
        'cpu.weight': String(cpuWeight(shares)),
        'cpu.max': `${unlimited ? 'max' : quota} ${CPU_PERIOD_MICROS}`,
      },
      memory: { 'memory.max': memory ? 'max' : String(memoryLimitBytes) },
      pids,
    },
  };
}
