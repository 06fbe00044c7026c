import type { AdmissionAttributes } from '../admission-contract.ts';
import type { Authorizer } from '../authorization/authorizer.ts';
import type { ApiError } from '../status/api-error.ts';
import type { ObjectStore } from '../store/object-store.ts';

export type NodeRestrictionParts = { store: ObjectStore; authorizer: Authorizer };

/** A write by a node. */
export type NodeWrite = NodeRestrictionParts & { node: string; attributes: AdmissionAttributes };

/** Returns why a node may not make a write, or the error that says so; undefined if it may. */
export type NodeWriteRule = (write: NodeWrite) => string | ApiError | undefined;
