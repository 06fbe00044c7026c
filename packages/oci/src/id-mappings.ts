import type { IdMapping, IdMappings } from '@podwright/system';
import type { OciIdMapping, OciLinux } from './spec.ts';

/** Returns the ID mappings for the OCI spec. OCI runtimes require them even if the user namespace already exists. */
export function ociMappings({ uids, gids }: IdMappings): Pick<OciLinux, 'uidMappings' | 'gidMappings'> {
  return { uidMappings: uids.map(ociMapping), gidMappings: gids.map(ociMapping) };
}

function ociMapping({ containerId, hostId, length }: IdMapping): OciIdMapping {
  return { containerID: containerId, hostID: hostId, size: length };
}
