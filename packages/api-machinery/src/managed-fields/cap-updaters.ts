import { identifierOf, type ManagerIdentity, type Owner, type Owners, secondsOf } from './owners.ts';

/** Maximum number of Update entries (upstream's DefaultMaxUpdateManagers). */
const MAX_UPDATERS = 10;
/** Name of the manager that owns the fields of merged entries. */
const ANCIENT = 'ancient-changes';

/**
 * Merges the oldest Update entries until at most `maxUpdaters` remain. Only entries of the same API version are merged, so more may remain.
 * The oldest entry of a version keeps its identity until another entry is merged into it.
 */
export function capUpdaters(owners: Owners, maxUpdaters = MAX_UPDATERS): Owners {
  const updaters = [...owners].filter(([, { operation }]) => operation === 'Update');
  if (updaters.length <= maxUpdaters) return owners;
  updaters.sort(compareAge);
  const result = new Map(owners);
  const firstOfVersion = new Map<string, string>();
  let remaining = updaters.length;
  for (const [identifier, owner] of updaters) {
    if (remaining <= maxUpdaters) break;
    const first = firstOfVersion.get(owner.apiVersion);
    if (first === undefined) firstOfVersion.set(owner.apiVersion, identifier);
    else {
      mergeInto(result, { first, identifier, owner });
      remaining -= 1;
    }
  }
  return result;
}

function compareAge([one, oneOwner]: [string, Owner], [other, otherOwner]: [string, Owner]): number {
  return secondsOf(oneOwner) - secondsOf(otherOwner) || (one < other ? -1 : 1);
}

/**
 * Merges an owner into the bucket of its API version. If the bucket does not exist yet, it replaces the first owner of that version. The
 * bucket's time is that of the owner merged last.
 */
function mergeInto(
  owners: Map<string, Owner>,
  { first, identifier, owner }: { first: string; identifier: string; owner: Owner },
): void {
  const { apiVersion, time } = owner;
  const bucket: ManagerIdentity = { manager: ANCIENT, operation: 'Update', apiVersion, subresource: '' };
  const bucketId = identifierOf(bucket);
  const before = owners.get(bucketId) ?? owners.get(first)!;
  if (!owners.has(bucketId)) owners.delete(first);
  owners.delete(identifier);
  owners.set(bucketId, {
    ...bucket,
    fields: owner.fields.union(before.fields),
    ...(time === undefined ? {} : { time }),
  });
}
