/** The objects of a request in the versions in which webhooks and policies expect them. */
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

/** Returns the kind of the request's object, for the resource by which the request was matched. */
export const kindFor = (resource: Resource, subresource: string): GroupVersionKind =>
  (subresource === '' ? undefined : resource.subresources?.[subresource]) ?? resource;

/** Returns an object of the request as the matched resource shows it. `object` is in the storage version. */
export function shownObject(
  { inVersion, subresource, operation }: AdmissionAttributes,
  resource: Resource,
  object: ApiObject,
): ApiObject {
  const kind = kindFor(resource, subresource);
  const shown = inVersion?.(resource).fromStored(object) ?? object;
  const { metadata: _, ...options } = shown;
  // the options of connections have no metadata
  const fields = operation === 'CONNECT' ? options : shown;
  return { ...fields, apiVersion: apiVersionOf(kind), kind: kind.kind } as ApiObject;
}

type Reading = {
  schema: Schema;
  resource: Resource;
  /** Whether fields that the kind does not have are refused. Otherwise they are ignored. */
  isStrict?: boolean;
};

/**
 * Returns a changed object in the storage version, with defaults. `changed` is the object as the matched resource shows it; its kind may be missing. Throws an
 * `ApiError` with the status 500 if it cannot be decoded.
 */
export function changedObject(
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
