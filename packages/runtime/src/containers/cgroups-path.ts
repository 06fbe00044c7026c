import { posix } from 'node:path';
import type { SandboxRecord } from '../records/sandbox-record.ts';

/** Cgroup of a task of the sandbox: below the pod's, or below the runtime's own where the pod has none (cgroupfs driver). */
export function cgroupsPath(sandbox: SandboxRecord, taskId: string, ownParent: string): string {
  const { cgroupParent } = sandbox.config;
  return posix.join('/', cgroupParent === '' ? ownParent : cgroupParent, taskId);
}

/** As `cgroupsPath`, for a runtime with this cgroup of its own. */
export const cgroupsPathBelow =
  (ownParent: string) =>
  (sandbox: SandboxRecord, taskId: string): string =>
    cgroupsPath(sandbox, taskId, ownParent);
