import { posix } from 'node:path';
import { PodwrightError, wrapError } from '@podwright/base';
import type { OciSpec } from '@podwright/oci';
import { readMounts } from '@podwright/system';
import { isWithin } from './kernel-paths.ts';

/**
 * Throws `failed_precondition` if a nested mount of a created container is not at its destination: after the OCI spec was built, another
 * container might have put a symbolic link there, which the OCI runtime then followed. Skips VM-based containers, whose mounts are not
 * visible on the host.
 */
export function checkNestedMounts(pid: number, { mounts }: Pick<OciSpec, 'mounts'>): void {
  const targets = mounts.filter(({ type }) => type === 'bind').map(({ destination }) => posix.resolve(destination));
  const isNested = (target: string) => targets.some((other) => other !== target && isWithin(other, target));
  const nested = targets.filter(isNested);
  if (nested.length === 0) return;
  const found = mountPointsOf(pid);
  const lost = nested.find((target) => !found.has(target));
  if (lost === undefined || !targets.some((target) => !isNested(target) && isWithin(target, lost) && found.has(target)))
    return;
  throw new PodwrightError(
    'failed_precondition',
    `mount at ${lost}: the path was changed while the container started; start it again, or mount it outside of a volume that others write to`,
  );
}

function mountPointsOf(pid: number): Set<string> {
  try {
    return new Set(readMounts(`/proc/${pid}/mountinfo`).map(({ mountPoint }) => mountPoint));
  } catch (error) {
    throw wrapError(`read the mounts of process ${pid}`, error, 'failed_precondition');
  }
}
