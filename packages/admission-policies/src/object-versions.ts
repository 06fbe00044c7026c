/** Converts a request's objects between the storage version and the version that a webhook or policy expects. */
import { type AdmissionAttributes, ApiError, internalError } from '@podwright/api-machinery';
import { errorMessage, PodwrightError } from '@podwright/base';
import type { ApiObject, JsonObject } from '@podwright/kube-kinds';
import {
  apiVersionOf,
  decodeJson,
  type GroupVersionKind,
  type Resource,
  type Schema,
  strictDecodingMessage,
} from '@podwright/kube-schema';

/** Returns the kind of a request's object: the subresource's own kind, such as `Scale`, or else the resource's kind. */
export const kindFor = (resource: Resource, subresource: string): GroupVersionKind =>
  (subresource === '' ? undefined : resource.subresources?.[subresource]) ?? resource;

/** Converts a request's object from the storage version to the version of `resource`, and sets its `apiVersion` and `kind`. */
export function versionedObject(
  { inVersion, subresource, operation }: AdmissionAttributes,
  resource: Resource,
  object: ApiObject,
): ApiObject {
  const kind = kindFor(resource, subresource);
  const converted = inVersion?.(resource).fromStored(object) ?? object;
  const { metadata: _, ...withoutMetadata } = converted;
  // the object of a CONNECT request is an options object, such as PodExecOptions, and must not get the metadata that stored objects have
  const fields = operation === 'CONNECT' ? withoutMetadata : converted;
  return { ...fields, apiVersion: apiVersionOf(kind), kind: kind.kind } as ApiObject;
}

type Reading = {
  schema: Schema;
  resource: Resource;
  /** Whether to reject unknown fields. Default: false, which drops them. */
  isStrict?: boolean;
};

/**
 * Converts an object changed by a webhook or policy to the storage version, and applies the defaults of its kind. `changed` is in the
 * version of `resource`; its `apiVersion` and `kind` are optional. Throws an `ApiError` with status 500 if it cannot be decoded.
 */
export function toStorageVersion(
  { inVersion, subresource }: AdmissionAttributes,
  changed: JsonObject,
  { schema, resource, isStrict = false }: Reading,
): ApiObject {
  const kind = kindFor(resource, subresource);
  const type = schema.kind(kind);
  try {
    const value = { ...changed, apiVersion: changed.apiVersion ?? apiVersionOf(kind), kind: changed.kind ?? kind.kind };
    if (value.kind !== kind.kind || value.apiVersion !== apiVersionOf(kind))
      throw internalError(`the object has the kind ${value.apiVersion}, Kind=${value.kind} after admission`);
    if (type === undefined) return value as unknown as ApiObject;
    if (inVersion !== undefined && !isStrict) return inVersion(resource).toStored(value);
    const { object, problems } = decodeJson(value, { schema, type });
    if (isStrict && problems.length > 0) throw internalError(strictDecodingMessage(problems));
    return inVersion === undefined ? (object as ApiObject) : inVersion(resource).toStored(value);
  } catch (error) {
    if (error instanceof PodwrightError) throw internalError(errorMessage(error));
    if (error instanceof ApiError && error.status.code < 500) throw internalError(error.message);
    throw error;
  }
}
