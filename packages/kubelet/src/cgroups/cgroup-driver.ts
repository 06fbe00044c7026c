import type { CgroupLimits } from '@podwright/host';

/**
 * A cgroup by its path components below `kubepods`: `[]` is `kubepods` itself, `['burstable']` a QoS class, `['burstable', 'pod1-2']` a
 * pod.
 */
export type CgroupName = readonly string[];

/** Creates and limits the kubelet's cgroups, directly or through systemd. */
export interface CgroupDriver {
  /** The cgroup's path in the hierarchy, as in the CRI's `cgroup_parent`. */
  path(cgroup: CgroupName): string;
  /** Creates the cgroup if it does not exist, and sets the limits that are present; others stay unchanged. */
  set(cgroup: CgroupName, limits: CgroupLimits): Promise<void>;
  isThere(cgroup: CgroupName): Promise<boolean>;
  /** Removes a cgroup that has no processes, together with its descendants. */
  remove(cgroup: CgroupName): Promise<void>;
  /** Kills the processes in a cgroup, and removes it. */
  end(cgroup: CgroupName): Promise<void>;
  /** Names of the child cgroups, in the spelling that `written` returns. */
  children(cgroup: CgroupName): Promise<string[]>;
  /** Converts a name to the driver's spelling: systemd slice names cannot contain `-`. */
  written(name: string): string;
}
