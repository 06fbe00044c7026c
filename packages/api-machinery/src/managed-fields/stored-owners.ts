/** Reads the field owners from stored objects and from objects that clients sent. Invalid entries are handled as in upstream. */
import { errorMessage, PodwrightError } from '@podwright/base';
import type { ApiObject } from '@podwright/kube-kinds';
import { ApiError } from '../status/api-error.ts';
import type { FieldSets } from './field-sets.ts';
import { isReset, managedFieldsOf } from './object-fields.ts';
import { decodeOwners, type Owners } from './owners.ts';

/**
 * Returns the owners that an update starts from: those that the client sent or, if there are none, those of the stored object, so that
 * clients that are unaware of managed fields do not remove them. Writes to a subresource cannot change them.
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

/** Returns no owners if any entry is invalid. */
function ownersOrNone(object: ApiObject | undefined, sets: FieldSets | undefined): Owners {
  try {
    return decodeOwners((object && managedFieldsOf(object)) ?? [], sets);
  } catch (error) {
    if (error instanceof PodwrightError) return new Map();
    throw error;
  }
}

/** Returns the owners in the stored object. An apply fails if any entry is invalid. */
export function ownersForApply(live: ApiObject | undefined, sets?: FieldSets): Owners {
  try {
    return decodeOwners((live && managedFieldsOf(live)) ?? [], sets);
  } catch (error) {
    if (!(error instanceof PodwrightError)) throw error;
    throw new ApiError(500, '', { message: `failed to decode managed fields: ${errorMessage(error)}` });
  }
}
