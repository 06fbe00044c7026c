import type { ApiObject, FieldError } from '@podwright/kube-kinds';

/** An object with unique values allocated to it, such as a cluster IP. */
export type Allocation = {
  object: ApiObject;
  /** Requested values that are unavailable. As in upstream, if there are any, only these errors are returned to the client. */
  errors: readonly FieldError[];
  /** Releases the reservation of the allocated values. Must be called exactly once, after the object was written or the write failed. */
  end: () => void;
};

/** Allocates values for a prepared object before it is validated. Throws `ApiError`. */
export type Allocate = (object: ApiObject, old: ApiObject | undefined) => Allocation;

/** An allocator that allocates nothing, for resources without allocated values. */
export const NO_ALLOCATION: Allocate = (object) => ({ object, errors: [], end: () => {} });
