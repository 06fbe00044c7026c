/** Reads and writes `metadata.managedFields`. */
import type { ApiObject } from '@podwright/kube-kinds';
import type { FieldSets } from './field-sets.ts';
import { encodeOwners, type ManagedFieldsEntry, type Owners } from './owners.ts';

/** Returns the managed fields entries, or `undefined` if the object has no `managedFields`. */
export function managedFieldsOf({ metadata }: ApiObject): readonly ManagedFieldsEntry[] | undefined {
  return metadata.managedFields as readonly ManagedFieldsEntry[] | undefined;
}

/** Returns the object with its managed fields replaced, or removed if there are no owners. */
export function withManagedFields(object: ApiObject, owners: Owners, sets?: FieldSets): ApiObject {
  const plain = withoutManagedFields(object);
  if (owners.size === 0) return plain;
  return { ...plain, metadata: { ...plain.metadata, managedFields: encodeOwners(owners, sets) } };
}

export function withoutManagedFields(object: ApiObject): ApiObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata: metadata as ApiObject['metadata'] };
}

/** Whether the client requests removal of all entries, which it does by sending an empty list or a list with a single empty entry. */
export function isReset(entries: readonly ManagedFieldsEntry[] | undefined): boolean {
  if (entries === undefined) return false;
  return entries.length === 0 || (entries.length === 1 && Object.keys(entries[0]!).length === 0);
}
