import { isDeepStrictEqual } from 'node:util';
import type { ApiObject } from '@podwright/kube-kinds';

/** Removes repeated owner references. `duplicates`: the UIDs of the removed ones. */
export function withoutRepeatedOwners(object: ApiObject): { object: ApiObject; duplicates: string[] } {
  const references = object.metadata.ownerReferences ?? [];
  const unique: typeof references = [];
  const duplicates: string[] = [];
  const seen = new Set<string>();
  for (const reference of references) {
    // references with the same UID may differ in other fields
    if (seen.has(reference.uid) && unique.some((one) => isDeepStrictEqual(one, reference)))
      duplicates.push(reference.uid);
    else unique.push(reference);
    seen.add(reference.uid);
  }
  if (duplicates.length === 0) return { object, duplicates };
  return { object: { ...object, metadata: { ...object.metadata, ownerReferences: unique } }, duplicates };
}

/** Upstream's warnings, before and after mutating admission. */
export const repeatedOwnersWarning = (duplicates: readonly string[], isAdmitted: boolean): string =>
  `.metadata.ownerReferences contains duplicate entries${isAdmitted ? ' after mutating admission happens' : ''}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${duplicates.join(', ')}`;
