import type { CgroupLimits } from '@podwright/base';

/** A cgroup of the kubelet's by its names below `kubepods`: none is that itself, `burstable` a class, `burstable`, `pod1-2` a pod. */
export type CgroupName = readonly string[];

/** Makes the kubelet's cgroups: itself, or through systemd. */
export interface CgroupDriver {
  /** The cgroup as a runtime takes it. */
  path(cgroup: CgroupName): string;
  /** Makes the cgroup, if it is not there, and gives it these limits; those that are absent stay as they are. */
  set(cgroup: CgroupName, limits: CgroupLimits): Promise<void>;
  isThere(cgroup: CgroupName): Promise<boolean>;
  /** Removes a cgroup in which nothing runs, with those below it. */
  remove(cgroup: CgroupName): Promise<void>;
  /** Ends what runs in a cgroup, and removes it. */
  end(cgroup: CgroupName): Promise<void>;
  /** What the cgroups directly below are called, in the driver's way to write them. */
  children(cgroup: CgroupName): Promise<string[]>;
  /** A name in the driver's way to write it. */
  written(name: string): string;
}
