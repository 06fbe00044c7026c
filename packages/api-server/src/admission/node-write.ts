import type { AdmissionAttributes, ApiError, ObjectStore } from '@podwright/api-machinery';
import type { Authorizer } from '../authorization/authorizer.ts';

export type NodeRestrictionParts = { store: ObjectStore; authorizer: Authorizer };

/** A write by a kubelet: its attributes, the kubelet's node, and the plugin's dependencies. */
export type NodeWrite = NodeRestrictionParts & { node: string; attributes: AdmissionAttributes };

/**
 * Checks a kubelet's write. Returns `undefined` if it is allowed; otherwise the reason, which is wrapped in a Forbidden error, or an error
 * that is returned as is.
 */
export type NodeWriteRule = (write: NodeWrite) => string | ApiError | undefined;
