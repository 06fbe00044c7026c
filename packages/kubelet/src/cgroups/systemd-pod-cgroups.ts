/**
 * A slice a pod, below one a QoS class, for a runtime whose containers are scopes of systemd's. Slices are named as upstream's kubelet
 * names them (cm/cgroup_manager_linux.go, ToSystemd), and systemd holds them to their limits.
 */
import {
  type CgroupHierarchy,
  endSlice,
  errorMessage,
  type Logger,
  listChildCgroups,
  type SliceProperties,
  setSlice,
  slicePath,
} from '@podwright/base';
import type { Pod, QosClass } from '../api/types.ts';
import { cpuQuota, cpuShares, cpuWeight } from './cpu.ts';
import type { EnforcedLimits, PodCgroups } from './pod-cgroups.ts';
import { podTotals } from './pod-resources.ts';
import { qosClass } from './qos.ts';

const CLASS_NAMES: Record<QosClass, string> = { Guaranteed: '', Burstable: 'burstable', BestEffort: 'besteffort' };

export type SystemdPodCgroupsInput = {
  /** As `cgroup_parent`: `/podwright` makes `podwright-kubepods.slice`. */
  root: string;
  hierarchy: CgroupHierarchy;
  limits: EnforcedLimits;
  logger: Logger;
};

export class SystemdPodCgroups implements PodCgroups {
  enforced: EnforcedLimits;
  readonly #hierarchy: CgroupHierarchy;
  readonly #logger: Logger;
  readonly #top: string[];
  readonly #made = new Map<string, string>();
  /** Thousandths of a core that each Burstable pod asks for. */
  readonly #burstable = new Map<string, bigint>();

  constructor({ root, hierarchy, limits, logger }: SystemdPodCgroupsInput) {
    this.enforced = limits;
    this.#hierarchy = hierarchy;
    this.#logger = logger;
    this.#top = [...root.split('/').filter((name) => name !== ''), 'kubepods'];
  }

  async prepare(): Promise<void> {
    await this.#limitAll();
    await setSlice(this.#slice(CLASS_NAMES.BestEffort), { CPUWeight: weightOf(0n) });
    await this.#weighBurstable();
  }

  async ensure(pod: Pod): Promise<void> {
    const slice = this.#podSlice(pod);
    const properties = sliceProperties(pod, this.enforced.pidsPerPod);
    const wanted = [slice, ...Object.values(properties)].join();
    if (this.#made.get(pod.metadata.uid) === wanted) return;
    await setSlice(slice, properties);
    if (qosClass(pod) === 'Burstable') {
      this.#burstable.set(pod.metadata.uid, podTotals(pod).milliCpuRequest);
      await this.#weighBurstable();
    }
    this.#made.set(pod.metadata.uid, wanted);
  }

  parentFor(pod: Pod): string {
    return slicePath(this.#podSlice(pod));
  }

  async remove(podUid: string): Promise<void> {
    this.#made.delete(podUid);
    if (this.#burstable.delete(podUid)) await this.#weighBurstable();
    for (const name of Object.values(CLASS_NAMES))
      await endSlice(this.#hierarchy, this.#slice(name, `pod${escaped(podUid)}`));
  }

  async removeOrphans(keep: ReadonlySet<string>): Promise<void> {
    const kept = new Set([...keep].map(escaped));
    for (const name of Object.values(CLASS_NAMES)) {
      const prefix = this.#slice(name, 'pod').slice(0, -'.slice'.length);
      const slices = await listChildCgroups(this.#hierarchy, slicePath(this.#slice(name)));
      const orphans = slices.filter(
        (slice) => slice.startsWith(prefix) && !kept.has(slice.slice(prefix.length, -'.slice'.length)),
      );
      for (const slice of orphans) await endSlice(this.#hierarchy, slice);
    }
  }

  #podSlice(pod: Pod): string {
    return this.#slice(CLASS_NAMES[qosClass(pod)], `pod${escaped(pod.metadata.uid)}`);
  }

  #slice(...names: string[]): string {
    return `${[...this.#top.map(escaped), ...names.filter((name) => name !== '')].join('-')}.slice`;
  }

  /** The class has the weight of all its pods, so that Guaranteed pods beside it keep what they asked for. */
  async #weighBurstable(): Promise<void> {
    const milliCpu = [...this.#burstable.values()].reduce((sum, one) => sum + one, 0n);
    await setSlice(this.#slice(CLASS_NAMES.Burstable), { CPUWeight: weightOf(milliCpu) });
  }

  /** Holds all pods together to what the node has for them. */
  async #limitAll(): Promise<void> {
    const { memoryBytes, pids } = this.enforced.allPods ?? {};
    try {
      await setSlice(this.#slice(), { MemoryMax: optional(memoryBytes), TasksMax: optional(pids) });
    } catch (error) {
      this.#logger.warn({ memoryBytes, pids, error: errorMessage(error) }, 'all pods together cannot be limited');
      this.enforced = { ...this.enforced, allPods: undefined };
    }
  }
}

/** A "-" would be another level; upstream has "_" for it. */
const escaped = (name: string) => name.replaceAll('-', '_');

const weightOf = (milliCpu: bigint) => cpuWeight(cpuShares(milliCpu));
const optional = (amount: number | undefined) => (amount === undefined ? undefined : BigInt(amount));

/** A pod's limits as properties of its slice (org.freedesktop.systemd1(5)); absent ones have no limit. */
export function sliceProperties(pod: Pod, pidsLimit?: number): SliceProperties {
  const { milliCpuRequest, milliCpuLimit, memoryLimitBytes } = podTotals(pod);
  const quota = cpuQuota(milliCpuLimit);
  return {
    CPUWeight: weightOf(milliCpuRequest),
    // Microseconds in each second, of a quota in each tenth of one.
    CPUQuotaPerSecUSec: quota === 0n ? undefined : quota * 10n,
    MemoryMax: memoryLimitBytes === 0n ? undefined : memoryLimitBytes,
    TasksMax: optional(pidsLimit),
  };
}
