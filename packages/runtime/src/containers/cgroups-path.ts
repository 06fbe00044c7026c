import { posix } from 'node:path';
import type { SandboxRecord } from '../records/sandbox-record.ts';

/**
 * Where the cgroups of sandboxes' tasks are (cgroupfs driver): below the pod's, or below the runtime's own `ownParent` for a
 * pod that has none.
 */
export const cgroupsPathBelow =
  (ownParent: string) =>
  ({ config: { cgroupParent } }: SandboxRecord, taskId: string): string =>
    posix.join('/', cgroupParent === '' ? ownParent : cgroupParent, taskId);
