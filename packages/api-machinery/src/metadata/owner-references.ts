import type { ApiObject } from '@podwright/kube-kinds';

/** Removes duplicate owner references. `duplicates`: the UIDs of the removed references. */
export function withoutRepeatedOwners(object: ApiObject): { object: ApiObject; duplicates: string[] } {
  const references = object.metadata.ownerReferences ?? [];
  const seen = new Set<string>();
  const duplicates: string[] = [];
  const unique = references.filter((reference) => {
    // references with the same UID are only duplicates if all other fields match too
    const text = JSON.stringify(Object.entries(reference).sort(([one], [other]) => (one < other ? -1 : 1)));
    const isNew = !seen.has(text);
    seen.add(text);
    if (!isNew) duplicates.push(reference.uid);
    return isNew;
  });
  if (duplicates.length === 0) return { object, duplicates };
  return { object: { ...object, metadata: { ...object.metadata, ownerReferences: unique } }, duplicates };
}

/** Returns upstream's warning about duplicate owner references. Its wording depends on whether mutating admission has run. */
export const repeatedOwnersWarning = (duplicates: readonly string[], isAdmitted: boolean): string =>
  `.metadata.ownerReferences contains duplicate entries${isAdmitted ? ' after mutating admission happens' : ''}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${duplicates.join(', ')}`;
