import type { ApiObject } from '@podwright/kube-kinds';
import type { AdmissionAttributes } from '../admission-contract.ts';
import { ApiError, forbidden, groupResource, type StatusCause } from '../status/api-error.ts';

/** The attributes of a write whose object is present. */
export type ObjectAttributes = AdmissionAttributes & { object: ApiObject };

/** One rule of admission. Both functions throw an `ApiError` to reject the write. */
export type AdmissionPlugin = {
  /** Upstream's name of the plugin. */
  readonly name: string;
  /** Returns the object, changed or not. Not called for a write without an object. */
  mutate?(attributes: ObjectAttributes): ApiObject | Promise<ApiObject>;
  validate?(attributes: AdmissionAttributes): void | Promise<void>;
};

type Operation = AdmissionAttributes['operation'];

/** Whether a write is of the main resource with this name: `pods`, `ingresses.networking.k8s.io`. */
export const isWriteOf = (attributes: AdmissionAttributes, resource: string, ...operations: Operation[]): boolean =>
  attributes.subresource === '' &&
  groupResource(attributes.resource) === resource &&
  operations.includes(attributes.operation);

/** The error with which a plugin rejects a write. */
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
