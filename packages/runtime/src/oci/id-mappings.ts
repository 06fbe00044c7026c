import type { IdMapping, IdMappings } from '@podwright/system';
import type { OciIdMapping, OciLinux } from './spec.ts';

/** The mappings of a user namespace as the OCI has them: also for one that is there, runtimes want to be told. */
export function ociMappings({ uids, gids }: IdMappings): Pick<OciLinux, 'uidMappings' | 'gidMappings'> {
  return { uidMappings: uids.map(ociMapping), gidMappings: gids.map(ociMapping) };
}

function ociMapping({ containerId, hostId, length }: IdMapping): OciIdMapping {
  return { containerID: containerId, hostID: hostId, size: length };
}
