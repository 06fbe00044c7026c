import { type IDMapping as CriIdMapping, invalid, NamespaceMode, type UserNamespace } from '@podwright/cri';
import type { IdMapping, IdMappings } from '@podwright/system';

/** Number of UIDs or GIDs on Linux: the 32-bit range except its highest value, which is invalid. */
const MAX_IDS = 0xffffffff;

/**
 * Returns the mappings of the requested user namespace; `undefined` if the pod uses the host's. As in containerd, there must be exactly one
 * UID range and one GID range, each starting at ID 0 inside the container, because that ID owns the container's mounts.
 */
export function userNamespaceOf(options: UserNamespace | undefined): IdMappings | undefined {
  if (options === undefined) return undefined;
  const { mode, uids, gids } = options;
  if (mode === NamespaceMode.NODE) {
    if (uids.length === 0 && gids.length === 0) return undefined;
    throw invalid('the user namespace mode NODE has mappings: they are for the mode POD');
  }
  if (mode !== NamespaceMode.POD) {
    throw invalid(`user namespace mode ${NamespaceMode[mode] ?? mode} is not one that a pod can have`);
  }
  return { uids: idMappings(uids, 'uids'), gids: idMappings(gids, 'gids') };
}

/** Returns the ID mappings of a mount; `undefined` if it has none. */
export function mountMappings(uids: CriIdMapping[], gids: CriIdMapping[], where: string): IdMappings | undefined {
  if (uids.length === 0 && gids.length === 0) return undefined;
  return { uids: idMappings(uids, `${where}: uidMappings`), gids: idMappings(gids, `${where}: gidMappings`) };
}

/** Returns true if the mappings are the same, or if there are none on either side. */
export function sameMappings(left: IdMappings | undefined, right: IdMappings | undefined): boolean {
  const text = (mappings: IdMappings | undefined) =>
    [...(mappings?.uids ?? []), ...(mappings?.gids ?? [])]
      .map(({ containerId, hostId, length }) => `${containerId} ${hostId} ${length}`)
      .join(', ');
  return text(left) === text(right);
}

function idMappings(mappings: CriIdMapping[], what: string): IdMapping[] {
  const [first] = mappings;
  if (first === undefined || mappings.length > 1) {
    throw invalid(`${what}: there are ${mappings.length} mappings, a user namespace has exactly one`);
  }
  const { containerId, hostId, length } = first;
  if (length < 1) throw invalid(`${what}: length ${length} is not at least 1`);
  if (containerId !== 0) throw invalid(`${what}: containerId is ${containerId}; id 0 must be mapped`);
  if (hostId + length > MAX_IDS)
    throw invalid(`${what}: hostId ${hostId} and length ${length} exceed the range of ids`);
  return [{ containerId, hostId, length }];
}
