import { isDeepStrictEqual } from 'node:util';
import type { ApiObject } from '@podwright/kube-kinds';
import { managedFieldsOf } from '../managed-fields/object-fields.ts';

/**
 * Whether the updated object equals the stored one, ignoring the timestamps of managed fields. A write that only updates these timestamps
 * is skipped (apiserver, IgnoreManagedFieldsTimestampsTransformer).
 */
export function isSameObject(object: ApiObject, old: ApiObject): boolean {
  if (isDeepStrictEqual(object, old)) return true;
  const [entries, oldEntries] = [managedFieldsOf(object), managedFieldsOf(old)];
  if (entries === undefined || entries.length !== oldEntries?.length) return false;
  return isDeepStrictEqual(withoutTimes(object), withoutTimes(old));
}

function withoutTimes(object: ApiObject): ApiObject {
  const managedFields = managedFieldsOf(object)?.map(({ time: _, ...entry }) => entry);
  return { ...object, metadata: { ...object.metadata, managedFields } };
}
