/** Decodes the field owners of stored objects and of objects sent by clients. Invalid entries are handled as in upstream. */
import { errorMessage, PodwrightError } from '@podwright/base';
import type { ApiObject } from '@podwright/kube-kinds';
import { ApiError } from '../status/api-error.ts';
import type { FieldSets } from './field-sets.ts';
import { isReset, managedFieldsOf } from './object-fields.ts';
import { decodeOwners, type Owners } from './owners.ts';

/**
 * Returns the owners before an update: those sent by the client or, if it sent none, those of the stored object, so that clients unaware of
 * managed fields do not remove them. Writes to subresources cannot change them.
 */
export function ownersForUpdate(
  { live, object, subresource }: { live: ApiObject | undefined; object: ApiObject; subresource: string },
  sets?: FieldSets,
): Owners {
  if (subresource !== '') return ownersOrNone(live, sets);
  if (isReset(managedFieldsOf(object))) return new Map();
  const given = ownersOrNone(object, sets);
  return given.size > 0 ? given : ownersOrNone(live, sets);
}

/** Returns the field owners of an object, or an empty map if any of its managed fields entries is invalid. */
function ownersOrNone(object: ApiObject | undefined, sets: FieldSets | undefined): Owners {
  try {
    return decodeOwners((object && managedFieldsOf(object)) ?? [], sets);
  } catch (error) {
    if (error instanceof PodwrightError) return new Map();
    throw error;
  }
}

/** Returns the owners of the stored object. An invalid entry makes the apply fail. */
export function ownersForApply(live: ApiObject | undefined, sets?: FieldSets): Owners {
  try {
    return decodeOwners((live && managedFieldsOf(live)) ?? [], sets);
  } catch (error) {
    if (!(error instanceof PodwrightError)) throw error;
    throw new ApiError(500, '', { message: `failed to decode managed fields: ${errorMessage(error)}` });
  }
}
