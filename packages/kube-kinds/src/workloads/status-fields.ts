/** Functions with which strategies prepare objects whose `status` is a subresource. */
import type { ApiObject } from '../api-object.ts';
import type { Field } from '../field.ts';
import { type JsonObject, numberAt, objectAt } from '../values.ts';

/** A new object has an empty status: the fields that Go never omits. */
export const resetStatus = (object: ApiObject, empty: JsonObject = {}): ApiObject => ({ ...object, status: empty });

/** An update of the main resource retains the status. */
export function retainStatus(object: ApiObject, old: ApiObject): ApiObject {
  const { status: _, ...others } = object;
  return old.status === undefined ? (others as ApiObject) : { ...object, status: old.status };
}

/** An update of the status retains everything but status and metadata. */
export function statusOnly(object: ApiObject, old: ApiObject): ApiObject {
  const { status: _, ...others } = old;
  const status = object.status === undefined ? {} : { status: object.status };
  return { ...others, metadata: object.metadata, ...status } as ApiObject;
}

/** Numbers of a status must not be negative. */
export function validateCounts(status: JsonObject | undefined, names: readonly string[], field: Field): void {
  for (const name of names) field.at(name).notNegative(numberAt(status, name));
}

/** Numbers of a status must not be greater than another one; `words` says so. */
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

/** A collision count never decreases. */
export function validateCollisions(object: ApiObject, old: ApiObject, field: Field): void {
  const before = numberAt(objectAt(old, 'status'), 'collisionCount');
  const now = numberAt(objectAt(object, 'status'), 'collisionCount');
  if (before !== undefined && (now === undefined || now < before))
    field.at('collisionCount').invalid(now ?? 0, 'cannot be decremented');
}
