import type { ApiObject } from '@podwright/kube-kinds';
import { apiVersionOf, type GroupVersionKind, type JsonObject, type Schema } from '@podwright/kube-schema';
import { ApiError } from '../status/api-error.ts';
import { StoredObject } from '../store/stored-object.ts';
import type { IncludeObject } from '../tables/table-of.ts';
import type { Conversion, OutputFormat } from './negotiation.ts';

/** An object of the store, or one that is not stored, such as the result of a dry run. */
export type AnyObject = StoredObject | ApiObject;

/** A list as the registry returns it. */
export type ObjectPage = {
  /** The revision of the listed state. */
  revision: number;
  objects: readonly AnyObject[];
  /** The token for the next page. */
  continue?: string;
  remainingItemCount?: number;
};

/** How to encode the objects of a resource. */
export type ResourceEncoding = {
  format: OutputFormat;
  schema: Schema;
  /** The kind of the objects, in the version of the URL. */
  resource: GroupVersionKind;
  /** Converts objects to the version in which upstream stores them, from which columns of tables are computed, if it is another one. */
  toStored?: (object: ApiObject) => ApiObject;
  /** The query's `includeObject`, for tables. */
  includeObject: IncludeObject;
  /** The current time, from which tables compute ages. */
  nowMs: number;
};

export const decoded = (object: AnyObject): ApiObject => (object instanceof StoredObject ? object.decode() : object);

export const revisionOf = (object: AnyObject): string =>
  object instanceof StoredObject ? String(object.revision) : (object.metadata.resourceVersion ?? '');

/** Converts an object to its metadata only. */
export const metadataOf = (object: AnyObject, { version }: Pick<Conversion, 'version'>): JsonObject => ({
  kind: 'PartialObjectMetadata',
  apiVersion: apiVersionOf({ group: 'meta.k8s.io', version }),
  metadata: decoded(object).metadata,
});

/** The error for an object that cannot be converted to the kind in the Accept header. */
export function wrongConversion(
  requested: Conversion['kind'],
  { schema, resource }: ResourceEncoding,
  isList: boolean,
): ApiError {
  const directory = schema.kind(resource)?.name.split('.')[0];
  const type = `*${directory}.${resource.kind}${isList ? 'List' : ''}`;
  const message = `you requested ${requested}, but the requested object is ${isList ? 'a list' : 'not a list'} (${type})`;
  return new ApiError(406, 'NotAcceptable', { message });
}
