import type { ApiObject, FieldError } from '@podwright/kube-kinds';

/** An object with values that no other object has, such as a cluster IP. */
export type Allocation = {
  object: ApiObject;
  /** Requested values that are not available. As in upstream, the client gets no other errors with them. */
  errors: readonly FieldError[];
  /** Called once, when the object was written or not. */
  end: () => void;
};

/** Assigns values to a prepared object, before its validation. Throws `ApiError`. */
export type Allocate = (object: ApiObject, old: ApiObject | undefined) => Allocation;

/** For resources without such values. */
export const NO_ALLOCATION: Allocate = (object) => ({ object, errors: [], end: () => {} });
