import type { AdmissionAttributes, ApiError, ObjectStore } from '@podwright/api-machinery';
import type { Authorizer } from '../authorization/authorizer.ts';

export type NodeRestrictionParts = { store: ObjectStore; authorizer: Authorizer };

/** A write by a kubelet. */
export type NodeWrite = NodeRestrictionParts & { node: string; attributes: AdmissionAttributes };

/**
 * Checks a kubelet's write. Returns `undefined` if the write is allowed; otherwise returns the reason for rejecting it, or the complete
 * error.
 */
export type NodeWriteRule = (write: NodeWrite) => string | ApiError | undefined;
