import { posix } from 'node:path';
import { PodwrightError } from '@podwright/base';
import { type CgroupDriver, cgroupPathOf, slicePath } from '@podwright/host';
import type { SandboxRecord } from '../records/sandbox-record.ts';

/** Name prefix of container scopes. Shows administrators that they were created by this container runtime. */
const SCOPE_PREFIX = 'podwright';

/** The cgroup driver, and the default parent cgroup for sandboxes that do not specify one. */
export type CgroupPlace = { cgroupDriver?: CgroupDriver; cgroupParent: string };

/**
 * Returns a function that computes a task's `linux.cgroupsPath`: a path under the pod's cgroup or, if the pod has none, under
 * `cgroupParent`. If the pod's cgroup is a slice (kubelets with the systemd driver), the result is `slice:prefix:id`, and the OCI runtime
 * has systemd create a scope in that slice. The function throws `failed_precondition` for a slice if the cgroup driver is cgroupfs.
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

/** Returns a function that computes the path of a task's cgroup with either cgroup driver. */
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

/** Returns the path of the cgroup specified by a sandbox's `cgroupParent`. */
export function podCgroup(cgroupParent: string): string {
  return isSlice(cgroupParent) ? slicePath(posix.basename(cgroupParent)) : posix.join('/', cgroupParent);
}

/** As in containerd, only the last component counts: `/a.slice/a-b.slice` means `a-b.slice`. */
const isSlice = (cgroupParent: string) => cgroupParent.endsWith('.slice');
