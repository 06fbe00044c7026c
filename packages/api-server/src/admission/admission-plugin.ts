import {
  type AdmissionAttributes,
  ApiError,
  forbidden,
  groupResource,
  type StatusCause,
} from '@podwright/api-machinery';
import type { ApiObject } from '@podwright/kube-kinds';

/** The attributes of a write request that contains an object. */
export type ObjectAttributes = AdmissionAttributes & { object: ApiObject };

/** An admission plugin. Both functions throw an `ApiError` to reject the write. */
export type AdmissionPlugin = {
  /** The plugin's name in upstream. */
  readonly name: string;
  /** Returns the object, mutated or unchanged. Not called for writes without an object. */
  mutate?(attributes: ObjectAttributes): ApiObject | Promise<ApiObject>;
  /** Called instead of `mutate` for deletions, which carry no object. Throws `ApiError` to refuse the deletion. */
  admitWithoutObject?(attributes: AdmissionAttributes): Promise<void>;
  validate?(attributes: AdmissionAttributes): void | Promise<void>;
};

type Operation = AdmissionAttributes['operation'];

/**
 * Whether this is a write to the main resource with the given group resource name (e.g. `pods` or `ingresses.networking.k8s.io`) using one
 * of the operations.
 */
export const isWriteOf = (attributes: AdmissionAttributes, resource: string, ...operations: Operation[]): boolean =>
  attributes.subresource === '' &&
  groupResource(attributes.resource) === resource &&
  operations.includes(attributes.operation);

/** Returns the error for a rejected write. */
export function rejected(
  attributes: AdmissionAttributes,
  cause: string,
  causes: readonly StatusCause[] = [],
): ApiError {
  const { name, resource, object } = attributes;
  const shown = name || object?.metadata.name || object?.metadata.generateName || 'Unknown';
  const error = forbidden(resource, shown, cause);
  if (causes.length === 0) return error;
  const { message, details } = error.status;
  return new ApiError(403, 'Forbidden', { message, details: { ...details, causes } });
}
