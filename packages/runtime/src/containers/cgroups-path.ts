import { posix } from 'node:path';
import { PodwrightError } from '@podwright/base';
import { type CgroupDriver, cgroupPathOf, slicePath } from '@podwright/host';
import type { SandboxRecord } from '../records/sandbox-record.ts';

/** Prefix of the names of containers' scopes, which shows an administrator that this runtime created them. */
const SCOPE_PREFIX = 'podwright';

/** The cgroup driver, and the default parent for sandboxes without a cgroup parent. */
export type CgroupPlace = { cgroupDriver?: CgroupDriver; cgroupParent: string };

/**
 * Returns a function that computes `linux.cgroupsPath` of a task: a path below the pod's cgroup, or below `cgroupParent` for a pod
 * without one. If the pod's cgroup is a slice, as from a kubelet with the systemd driver, the result is `slice:prefix:id`, and the
 * OCI runtime makes systemd create a scope there. `failed_precondition` for a slice with the cgroupfs driver.
 */
export const cgroupsPathBelow = ({ cgroupDriver, cgroupParent: ownParent }: CgroupPlace) => {
  const pathOf = cgroupsPathOf(ownParent);
  return (sandbox: SandboxRecord, taskId: string): string => {
    const { cgroupParent } = sandbox.config;
    if (cgroupDriver === 'systemd' || !isSlice(cgroupParent)) return pathOf(sandbox, taskId);
    throw new PodwrightError(
      'failed_precondition',
      `use cgroup ${cgroupParent}: it is a systemd slice, but the cgroup driver of this runtime is cgroupfs; ` +
        'set runtime.cgroup_driver = "systemd" here, or cgroupDriver: cgroupfs in the kubelet',
    );
  };
};

/** Returns a function that computes the path of a task's cgroup, for both cgroup drivers. */
export const taskCgroupBelow = (ownParent: string) => {
  const pathOf = cgroupsPathOf(ownParent);
  return (sandbox: SandboxRecord, taskId: string): string => cgroupPathOf(pathOf(sandbox, taskId));
};

const cgroupsPathOf =
  (ownParent: string) =>
  ({ config: { cgroupParent } }: SandboxRecord, taskId: string): string =>
    isSlice(cgroupParent)
      ? `${posix.basename(cgroupParent)}:${SCOPE_PREFIX}:${taskId}`
      : posix.join('/', cgroupParent === '' ? ownParent : cgroupParent, taskId);

/** The path of the cgroup that a sandbox's `cgroupParent` names. */
export function podCgroup(cgroupParent: string): string {
  return isSlice(cgroupParent) ? slicePath(posix.basename(cgroupParent)) : posix.join('/', cgroupParent);
}

/** As in containerd, only the last component counts: `/a.slice/a-b.slice` means `a-b.slice`. */
const isSlice = (cgroupParent: string) => cgroupParent.endsWith('.slice');
