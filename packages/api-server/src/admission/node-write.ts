import type { AdmissionAttributes } from '../admission-contract.ts';
import type { Authorizer } from '../authorization/authorizer.ts';
import type { ApiError } from '../status/api-error.ts';
import type { ObjectStore } from '../store/object-store.ts';

export type NodeRestrictionParts = { store: ObjectStore; authorizer: Authorizer };

/** A write by a kubelet. */
export type NodeWrite = NodeRestrictionParts & { node: string; attributes: AdmissionAttributes };

/**
 * Checks a kubelet's write. Returns `undefined` if the write is allowed; otherwise returns the reason for rejecting it, or the complete
 * error.
 */
export type NodeWriteRule = (write: NodeWrite) => string | ApiError | undefined;
