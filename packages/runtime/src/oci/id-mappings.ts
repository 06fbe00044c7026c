import type { IdMapping, IdMappings } from '@podwright/system';
import type { OciIdMapping, OciLinux } from './spec.ts';

/** ID mappings for the OCI specification. OCI runtimes require them even if the user namespace exists already. */
export function ociMappings({ uids, gids }: IdMappings): Pick<OciLinux, 'uidMappings' | 'gidMappings'> {
  return { uidMappings: uids.map(ociMapping), gidMappings: gids.map(ociMapping) };
}

function ociMapping({ containerId, hostId, length }: IdMapping): OciIdMapping {
  return { containerID: containerId, hostID: hostId, size: length };
}
