/** Reading and writing `metadata.managedFields`. */
import type { ApiObject } from '@podwright/kube-kinds';
import { encodeOwners, type ManagedFieldsEntry, type Owners } from './owners.ts';

/** The entries, or undefined if the object does not have the field. */
export function managedFieldsOf({ metadata }: ApiObject): readonly ManagedFieldsEntry[] | undefined {
  return metadata.managedFields as readonly ManagedFieldsEntry[] | undefined;
}

/** The object with other entries; without the field if there are none. */
export function withManagedFields(object: ApiObject, owners: Owners): ApiObject {
  const plain = withoutManagedFields(object);
  return owners.size === 0 ? plain : { ...plain, metadata: { ...plain.metadata, managedFields: encodeOwners(owners) } };
}

export function withoutManagedFields(object: ApiObject): ApiObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata: metadata as ApiObject['metadata'] };
}

/** Whether a client requests to remove all entries: by an empty list, or by a list with one empty entry. */
export function isReset(entries: readonly ManagedFieldsEntry[] | undefined): boolean {
  if (entries === undefined) return false;
  return entries.length === 0 || (entries.length === 1 && Object.keys(entries[0]!).length === 0);
}
