import { posix } from 'node:path';
import { type CgroupDriver, cgroupPathOf, PodwrightError, slicePath } from '@podwright/base';
import type { SandboxRecord } from '../records/sandbox-record.ts';

/** What the scopes of containers begin with, so that everybody sees whose they are. */
const SCOPE_PREFIX = 'podwright';

/** Who makes cgroups, and the one below which sandboxes without a cgroup parent have theirs. */
export type CgroupPlace = { cgroupDriver?: CgroupDriver; cgroupParent: string };

/**
 * `linux.cgroupsPath` of sandboxes' tasks: a path below the pod's cgroup, or below the runtime's own for a pod that has none. In a
 * slice, which a kubelet with the systemd driver names, it is `slice:prefix:id`: the OCI runtime has systemd make a scope there.
 * `failed_precondition` for a slice where systemd is not asked for cgroups.
 */
export const cgroupsPathBelow = ({ cgroupDriver, cgroupParent: ownParent }: CgroupPlace) => {
  const pathOf = cgroupsPathOf(ownParent);
  return (sandbox: SandboxRecord, taskId: string): string => {
    const { cgroupParent } = sandbox.config;
    if (cgroupDriver === 'systemd' || !isSlice(cgroupParent)) return pathOf(sandbox, taskId);
    throw new PodwrightError(
      'failed_precondition',
      `use cgroup ${cgroupParent}: it is a slice of systemd's, and the cgroup driver of this runtime is cgroupfs; ` +
        'set runtime.cgroup_driver = "systemd" here, or cgroupDriver: cgroupfs in the kubelet',
    );
  };
};

/** The paths of tasks' cgroups, also of those that were made under another driver. */
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

/** As containerd has it, the last name alone counts: `/a.slice/a-b.slice` is `a-b.slice`. */
const isSlice = (cgroupParent: string) => cgroupParent.endsWith('.slice');
