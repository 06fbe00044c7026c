/** Helpers for strategies of kinds with a status subresource. */
import type { ApiObject } from '../api-object.ts';
import type { Field } from '../field.ts';
import { type JsonObject, numberAt, objectAt } from '../values.ts';

/** Replaces the status of a new object with an empty one, which has only the fields that Go never omits. */
export const resetStatus = (object: ApiObject, empty: JsonObject = {}): ApiObject => ({ ...object, status: empty });

/** Keeps the old status when the main resource is updated. */
export function retainStatus(object: ApiObject, old: ApiObject): ApiObject {
  const { status: _, ...others } = object;
  return old.status === undefined ? (others as ApiObject) : { ...object, status: old.status };
}

/** Returns the old object with the new object's status and metadata, which are all that a status update can change. */
export function statusOnly(object: ApiObject, old: ApiObject): ApiObject {
  const { status: _, ...others } = old;
  const status = object.status === undefined ? {} : { status: object.status };
  return { ...others, metadata: object.metadata, ...status } as ApiObject;
}

/** Requires the named counts in a status to be non-negative. */
export function validateCounts(status: JsonObject | undefined, names: readonly string[], field: Field): void {
  for (const name of names) field.at(name).notNegative(numberAt(status, name));
}

/** Requires the named counts in a status not to exceed the status field named by `limit`. `words` is the error message. */
export function validateAtMost(
  status: JsonObject | undefined,
  names: readonly string[],
  { limit, words, field }: { limit: string; words: string; field: Field },
): void {
  for (const name of names) {
    const count = numberAt(status, name) ?? 0;
    if (count > (numberAt(status, limit) ?? 0)) field.at(name).invalid(count, words);
  }
}

/** Rejects a decreasing collision count. */
export function validateCollisions(object: ApiObject, old: ApiObject, field: Field): void {
  const before = numberAt(objectAt(old, 'status'), 'collisionCount');
  const now = numberAt(objectAt(object, 'status'), 'collisionCount');
  if (before !== undefined && (now === undefined || now < before))
    field.at('collisionCount').invalid(now ?? 0, 'cannot be decremented');
}
