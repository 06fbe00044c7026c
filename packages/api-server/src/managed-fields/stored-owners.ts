/** The owners in objects that clients sent or that are stored, with upstream's handling of invalid entries. */
import { errorMessage, PodwrightError } from '@podwright/base';
import type { ApiObject } from '@podwright/kube-kinds';
import { ApiError } from '../status/api-error.ts';
import { isReset, managedFieldsOf } from './object-fields.ts';
import { decodeOwners, type Owners } from './owners.ts';

/**
 * The owners that a write starts from: those that the client sent, otherwise those of the stored object, so that clients that ignore managed
 * fields do not remove them. Writes of a subresource cannot change them.
 */
export function ownersForUpdate(live: ApiObject | undefined, object: ApiObject, subresource: string): Owners {
  if (subresource !== '') return ownersOrNone(live);
  if (isReset(managedFieldsOf(object))) return new Map();
  const given = ownersOrNone(object);
  return given.size > 0 ? given : ownersOrNone(live);
}

/** None if an entry is invalid. */
function ownersOrNone(object: ApiObject | undefined): Owners {
  try {
    return decodeOwners((object && managedFieldsOf(object)) ?? []);
  } catch (error) {
    if (error instanceof PodwrightError) return new Map();
    throw error;
  }
}

/** The owners in the stored object. An apply fails if one is invalid. */
export function ownersForApply(live: ApiObject | undefined): Owners {
  try {
    return decodeOwners((live && managedFieldsOf(live)) ?? []);
  } catch (error) {
    if (!(error instanceof PodwrightError)) throw error;
    throw new ApiError(500, '', { message: `failed to decode managed fields: ${errorMessage(error)}` });
  }
}
