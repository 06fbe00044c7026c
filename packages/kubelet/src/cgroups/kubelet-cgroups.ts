/**
 * Cgroups for QoS classes and pods. A pod's cgroup is a child of its QoS class's cgroup and limits all of the pod's containers together.
 */
import { join } from 'node:path';
import { errorCode, errorMessage, KeyedLock, type Logger, PodwrightError } from '@podwright/base';
import { type CgroupHierarchy, cgroupDirectory, readCgroupFile, thawCgroup, treeOf } from '@podwright/host';
import { type Pod, podRequest, type QosClass, qosClass } from '@podwright/kube-api';
import { CgroupClaim } from './cgroup-claim.ts';
import type { CgroupDriver, CgroupName } from './cgroup-driver.ts';
import {
  allPodsLimits,
  allPodsReservation,
  BEST_EFFORT_LIMITS,
  burstableLimits,
  type ClassRequests,
  type PodLimitSettings,
  podCgroupLimits,
} from './cgroup-limits.ts';
import type { EnforcedLimits, PodCgroups } from './pod-cgroups.ts';

const CLASS_NAMES: Record<QosClass, CgroupName> = {
  Guaranteed: [],
  Burstable: ['burstable'],
  BestEffort: ['besteffort'],
};

export type KubeletCgroupsSettings = Omit<PodLimitSettings, 'pidsPerPod'> & {
  limits: EnforcedLimits;
  /** Allocatable CPU for all pods together, in millicores. */
  milliCpu: bigint;
  /** Called when the outcome of limiting all pods together changes: with `undefined` on success, or with the error message. */
  onLimited?: (failure: string | undefined) => void;
  /** Whether the pod has exclusive CPUs, in which case it gets no CFS quota. */
  hasOwnCpus?: (pod: Pod) => boolean;
};

export type KubeletCgroupsInput = {
  driver: CgroupDriver;
  hierarchy: CgroupHierarchy;
  settings: KubeletCgroupsSettings;
  logger: Logger;
};

export class KubeletCgroups implements PodCgroups {
  enforced: EnforcedLimits;
  readonly allPods: string;
  readonly #input: KubeletCgroupsInput;
  readonly #claim: CgroupClaim;
  /** Pods whose cgroups this process has set up, by UID. `wanted` is the cgroup and its limits as a string, to detect changes. */
  readonly #made = new Map<string, { wanted: string; class: QosClass; requests: ClassRequests }>();
  /** The limits last written to the QoS classes' cgroups; `undefined` forces a rewrite. */
  #weighed: string | undefined;
  readonly #weighing = new KeyedLock();
  #limited: { failure: string | undefined } | undefined;
  #isConflictLogged = false;

  constructor(input: KubeletCgroupsInput) {
    this.#input = input;
    this.enforced = input.settings.limits;
    this.allPods = input.driver.path([]);
    this.#claim = new CgroupClaim(this.allPods);
  }

  /** Creates the ancestors of the pods' cgroups, and thaws pods left frozen by a kubelet that was killed. Rejects on failure. */
  async prepare(): Promise<void> {
    const { driver, settings } = this.#input;
    await this.#thawPods();
    await driver.set([], { cpuShares: allPodsLimits(settings.milliCpu, undefined).cpuShares });
    await this.refresh();
  }

  async refresh(): Promise<void> {
    await this.#limitAll();
    await this.#input.driver.set(CLASS_NAMES.BestEffort, BEST_EFFORT_LIMITS);
    this.#weighed = undefined;
    await this.#weighClasses();
  }

  async ensure(pod: Pod): Promise<void> {
    const { driver, settings } = this.#input;
    const { uid } = pod.metadata;
    const cgroup = podCgroup(pod);
    const cpuCfsQuota = settings.policy.cpuCfsQuota && settings.hasOwnCpus?.(pod) !== true;
    const policy = { ...settings.policy, cpuCfsQuota };
    const limits = podCgroupLimits(pod, { ...settings, policy, pidsPerPod: settings.limits.pidsPerPod });
    const wanted = JSON.stringify([cgroup, limits]);
    const known = this.#made.get(uid)?.wanted === wanted && (await driver.isThere(cgroup));
    if (known) return;
    await driver.set(cgroup, limits);
    const requests = { milliCpu: podRequest(pod, 'cpu'), memoryBytes: podRequest(pod, 'memory') };
    this.#made.set(uid, { wanted, class: qosClass(pod), requests });
    await this.#weighClasses();
  }

  parentFor(pod: Pod): string {
    return this.#input.driver.path(podCgroup(pod));
  }

  async remove(podUid: string): Promise<void> {
    const known = this.#made.get(podUid);
    this.#made.delete(podUid);
    if (known !== undefined) await this.#weighClasses();
    const classes = known === undefined ? Object.values(CLASS_NAMES) : [CLASS_NAMES[known.class]];
    for (const name of classes) await this.#removeOrEnd([...name, cgroupNameOf(podUid)]);
  }

  async removeOrphans(keep: ReadonlySet<string>): Promise<void> {
    const { driver, logger } = this.#input;
    if (!(await this.#isOurs())) return;
    const kept = new Set([...keep].map((uid) => driver.written(`pod${uid}`)));
    for (const name of Object.values(CLASS_NAMES)) {
      const orphans = (await driver.children(name)).filter((child) => child.startsWith('pod') && !kept.has(child));
      for (const orphan of orphans)
        await driver
          .end([...name, orphan])
          .then(() => logger.info({ cgroup: orphan }, 'removed the cgroup of a deleted pod'))
          .catch((error: unknown) =>
            logger.warn({ cgroup: orphan, error: errorMessage(error) }, 'failed to remove the cgroup of a deleted pod'),
          );
    }
    for (const uid of this.#made.keys()) if (!keep.has(uid)) this.#made.delete(uid);
  }

  /**
   * Removes a pod's cgroup. Kills the processes left in it, unless they might belong to another kubelet. Processes can be left if the
   * container runtime was killed while creating a sandbox and therefore does not track them.
   */
  async #removeOrEnd(cgroup: CgroupName): Promise<void> {
    const { driver, logger } = this.#input;
    try {
      await driver.remove(cgroup);
    } catch (error) {
      if (errorCode(error) !== 'failed_precondition' || !(await this.#isOurs())) throw error;
      const fields = { cgroup: driver.path(cgroup), error: errorMessage(error) };
      logger.warn(fields, 'killing processes in the cgroup of a pod that are in no container of the runtime');
      await driver.end(cgroup);
    }
  }

  close(): Promise<void> {
    return this.#claim.release();
  }

  async #isOurs(): Promise<boolean> {
    const { driver, logger } = this.#input;
    const isOurs = await this.#claim.isOurs();
    if (!isOurs && !this.#isConflictLogged)
      logger.warn(
        { cgroup: driver.path([]) },
        'another kubelet has its pods below this cgroup, so leftover cgroups are not removed; give one of the two another cgroup parent',
      );
    this.#isConflictLogged = !isOurs;
    return isOurs;
  }

  async #thawPods(): Promise<void> {
    const { driver, hierarchy, logger } = this.#input;
    for (const name of Object.values(CLASS_NAMES)) {
      const pods = (await driver.children(name)).filter((child) => child.startsWith('pod'));
      for (const pod of pods) {
        const path = driver.path([...name, pod]);
        if (thawCgroup(hierarchy, path)) logger.warn({ cgroup: path }, 'thawed a pod that had been left frozen');
      }
    }
  }

  #requestsOf(wanted: QosClass): ClassRequests {
    const all = [...this.#made.values()].filter((pod) => pod.class === wanted).map(({ requests }) => requests);
    return {
      milliCpu: all.reduce((sum, { milliCpu }) => sum + milliCpu, 0n),
      memoryBytes: all.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0n),
    };
  }

  #weighClasses(): Promise<void> {
    return this.#weighing.run('', async () => {
      const { driver, settings } = this.#input;
      const burstable = this.#requestsOf('Burstable');
      const kept = burstable.memoryBytes + this.#requestsOf('Guaranteed').memoryBytes;
      const reservation = allPodsReservation(kept, settings.policy);
      const limits = burstableLimits(burstable, settings.policy);
      const wanted = JSON.stringify([reservation, limits]);
      if (this.#weighed === wanted) return;
      if (reservation !== undefined) await driver.set([], reservation);
      await driver.set(CLASS_NAMES.Burstable, limits);
      this.#weighed = wanted;
    });
  }

  /** Limits all pods together to the node's allocatable resources, so that they cannot starve the system. */
  async #limitAll(): Promise<void> {
    const { driver, settings, logger } = this.#input;
    const { allPods } = settings.limits;
    try {
      await this.#refuseBelowUse(allPods?.memoryBytes);
      await driver.set([], allPodsLimits(settings.milliCpu, allPods));
      this.enforced = settings.limits;
      this.#reportLimited(undefined);
    } catch (error) {
      const failure = errorMessage(error);
      if (this.#limited?.failure === undefined)
        logger.warn({ ...allPods, error: failure }, 'all pods together cannot be limited');
      this.enforced = { ...settings.limits, allPods: undefined };
      this.#reportLimited(failure);
    }
  }

  #reportLimited(failure: string | undefined): void {
    if (this.#limited === undefined || this.#limited.failure !== failure) this.#input.settings.onLimited?.(failure);
    this.#limited = { failure };
  }

  /**
   * Rejects a memory limit below the pods' current usage, which can happen if pods were started under different settings. cgroup v1 itself
   * rejects such a limit (EBUSY), but cgroup v2 would OOM-kill some of the pods.
   */
  async #refuseBelowUse(limitBytes: number | undefined): Promise<void> {
    const { driver, hierarchy } = this.#input;
    const tree = treeOf(hierarchy, 'memory');
    if (limitBytes === undefined || tree?.version !== 2) return;
    const used = (await readCgroupFile(join(cgroupDirectory(tree, driver.path([])), 'memory.current'))) ?? '0';
    if (Number(used) > limitBytes)
      throw new PodwrightError('failed_precondition', `limit pods to ${limitBytes} bytes: they use ${used.trim()} now`);
  }
}

const podCgroup = (pod: Pod): CgroupName => [...CLASS_NAMES[qosClass(pod)], cgroupNameOf(pod.metadata.uid)];

function cgroupNameOf(podUid: string): string {
  if (!/^[\w.-]{1,128}$/.test(podUid)) {
    throw new PodwrightError(
      'invalid_argument',
      `name the cgroup of pod uid "${podUid}": only letters, digits, ".", "_" and "-" are allowed`,
    );
  }
  return `pod${podUid}`;
}
