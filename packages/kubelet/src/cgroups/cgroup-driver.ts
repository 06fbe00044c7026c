import type { CgroupLimits } from '@podwright/host';

/**
 * A cgroup's path components under `kubepods`: `[]` is `kubepods` itself, `['burstable']` a QoS class, and `['burstable', 'pod1-2']` a pod.
 */
export type CgroupName = readonly string[];

/** Creates the kubelet's cgroups and sets their limits, directly or through systemd. */
export interface CgroupDriver {
  /** Returns the cgroup's path in the hierarchy, in the form used for the CRI's `cgroup_parent`. */
  path(cgroup: CgroupName): string;
  /** Creates the cgroup if it does not exist, and sets the given limits. Absent limits are left unchanged. */
  set(cgroup: CgroupName, limits: CgroupLimits): Promise<void>;
  isThere(cgroup: CgroupName): Promise<boolean>;
  /** Removes a cgroup and its descendants. The cgroup must not contain any processes. */
  remove(cgroup: CgroupName): Promise<void>;
  /** Kills the processes in a cgroup and removes it. */
  end(cgroup: CgroupName): Promise<void>;
  /** Returns the names of a cgroup's children, in the spelling that `written` returns. */
  children(cgroup: CgroupName): Promise<string[]>;
  /** Converts the name of a cgroup to the spelling used by this driver, because systemd slice names cannot contain `-`. */
  written(name: string): string;
}
