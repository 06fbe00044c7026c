import { posix } from 'node:path';
import type { SandboxRecord } from '../sandbox/sandbox-record.ts';

/**
 * `linux.cgroupsPath` of a task of the sandbox: below the pod's cgroup, or below the runtime's own where the pod has none.
 * For a systemd slice it is the OCI runtimes' triple `slice:prefix:name`.
 */
export function cgroupsPath(sandbox: SandboxRecord, taskId: string, ownParent: string): string {
  const parent = sandbox.config.cgroupParent === '' ? ownParent : sandbox.config.cgroupParent;
  const name = posix.basename(parent);
  return name.endsWith('.slice') ? `${name}:podwright:${taskId}` : posix.join('/', parent, taskId);
}
