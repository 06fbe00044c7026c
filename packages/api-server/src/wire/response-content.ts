import { ApiError, StoredObject } from '@podwright/api-machinery';
import type { IncludeObject } from '@podwright/api-tables';
import type { ApiObject } from '@podwright/kube-kinds';
import { apiVersionOf, type GroupVersionKind, type JsonObject, type Schema } from '@podwright/kube-schema';
import type { Conversion, OutputFormat } from './negotiation.ts';

/** An object in a response: either a stored one, or one that is not stored, such as the result of a dry run. */
export type AnyObject = StoredObject | ApiObject;

/** A list of objects, as returned by the registry. */
export type ObjectPage = {
  /** The store's revision at which the list was read. */
  revision: number;
  objects: readonly AnyObject[];
  /** Token for requesting the next chunk of the list. */
  continue?: string;
  remainingItemCount?: number;
};

/** How to encode the objects of a resource in a response. */
export type ResourceEncoding = {
  format: OutputFormat;
  schema: Schema;
  /** The kind of the objects, in the API version of the request's URL. */
  resource: GroupVersionKind & { listKind?: string };
  /**
   * Converts an object to the API version in which upstream stores it, because table columns are computed from that version. Unset if the
   * objects already have it.
   */
  toStored?: (object: ApiObject) => ApiObject;
  /** How much of its object each table row includes (`includeObject` query parameter). */
  includeObject: IncludeObject;
  /** The current Unix time in milliseconds, from which tables compute ages. */
  nowMs: number;
  /** Waits for this caller's turn to encode the next slice of a long list (`SliceTurns`). */
  turn?: () => Promise<void>;
};

export const decoded = (object: AnyObject): ApiObject => (object instanceof StoredObject ? object.decode() : object);

export const revisionOf = (object: AnyObject): string =>
  object instanceof StoredObject ? String(object.revision) : (object.metadata.resourceVersion ?? '');

/** Converts an object to a PartialObjectMetadata. */
export const metadataOf = (object: AnyObject, { version }: Pick<Conversion, 'version'>): JsonObject => ({
  kind: 'PartialObjectMetadata',
  apiVersion: apiVersionOf({ group: 'meta.k8s.io', version }),
  metadata: decoded(object).metadata,
});

/** Returns the error for an object that cannot be converted to the kind requested by the Accept header. */
export function wrongConversion(
  requested: Conversion['kind'],
  { schema, resource }: ResourceEncoding,
  isList: boolean,
): ApiError {
  const directory = schema.kind(resource)?.name.split('.')[0];
  const isCustom = schema.kind(resource)?.custom !== undefined;
  const [from, kind] = isCustom ? ['unstructured', 'Unstructured'] : [directory, resource.kind];
  const type = `*${from}.${kind}${isList ? 'List' : ''}`;
  const message = `you requested ${requested}, but the requested object is ${isList ? 'a list' : 'not a list'} (${type})`;
  return new ApiError(406, 'NotAcceptable', { message });
}
