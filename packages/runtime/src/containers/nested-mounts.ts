import { posix } from 'node:path';
import { PodwrightError, wrapError } from '@podwright/base';
import { readMounts } from '@podwright/system';
import type { OciSpec } from '../oci/spec.ts';
import { isWithin } from './kernel-paths.ts';

/**
 * Refuses a created container of which a mount inside another one is not at its place: since the specification was made, another
 * container may have put a link there, which the OCI runtime followed. Processes of virtual machines have no mounts to be
 * seen. `failed_precondition`.
 */
export function checkNestedMounts(pid: number, { mounts }: Pick<OciSpec, 'mounts'>): void {
  const places = mounts.filter(({ type }) => type === 'bind').map(({ destination }) => posix.resolve(destination));
  const isNested = (place: string) => places.some((other) => other !== place && isWithin(other, place));
  const nested = places.filter(isNested);
  if (nested.length === 0) return;
  const found = mountPointsOf(pid);
  const lost = nested.find((place) => !found.has(place));
  if (lost === undefined || !places.some((place) => !isNested(place) && isWithin(place, lost) && found.has(place)))
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
