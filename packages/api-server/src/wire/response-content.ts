import { ApiError, StoredObject } from '@podwright/api-machinery';
import type { IncludeObject } from '@podwright/api-tables';
import type { ApiObject } from '@podwright/kube-kinds';
import { apiVersionOf, type GroupVersionKind, type JsonObject, type Schema } from '@podwright/kube-schema';
import type { Conversion, OutputFormat } from './negotiation.ts';

/** An object in a response: either a stored one, or one that is not stored, such as the result of a dry run. */
export type AnyObject = StoredObject | ApiObject;

/** A list of objects, as returned by the registry. */
export type ObjectPage = {
  /** The revision at which the list was read. */
  revision: number;
  objects: readonly AnyObject[];
  /** Continue token for the next chunk. */
  continue?: string;
  remainingItemCount?: number;
};

/** How to encode a resource's objects. */
export type ResourceEncoding = {
  format: OutputFormat;
  schema: Schema;
  /** The objects' kind, in the URL's version. */
  resource: GroupVersionKind & { listKind?: string };
  /**
   * Converts objects to the version stored by upstream, from which table columns are computed. Absent if they already have that version.
   */
  toStored?: (object: ApiObject) => ApiObject;
  /** The `includeObject` query parameter, for tables. */
  includeObject: IncludeObject;
  /** The current time, used to compute the ages in tables. */
  nowMs: number;
  /** Waits until the next slice of a long list may be encoded (`SliceTurns`). */
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
