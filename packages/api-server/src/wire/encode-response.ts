import { itemParts, StoredObject } from '@podwright/api-machinery';
import { apiVersionOf, type GroupVersionKind, type JsonObject, listKind, type Schema } from '@podwright/kube-schema';
import { type SlicedBody, slicedList } from './encode-slices.ts';
import { tableValue } from './encode-table.ts';
import { type Body, encodeValue, NEWLINE } from './encode-value.ts';
import type { OutputFormat } from './negotiation.ts';
import {
  type AnyObject,
  decoded,
  metadataOf,
  type ObjectPage,
  type ResourceEncoding,
  revisionOf,
  wrongConversion,
} from './response-content.ts';

/** Encodes a single object. A stored object is sent as is if the client accepts JSON. */
export async function encodeOne(object: AnyObject, encoding: ResourceEncoding): Promise<Body> {
  const { format } = encoding;
  const { convertTo } = format;
  if (convertTo === undefined && object instanceof StoredObject && isStoredForm(format))
    return { contentType: format.mediaType, parts: [object.bytes, NEWLINE] };
  return encodeValue(await oneValue(object, convertTo, encoding), format, encoding.schema);
}

/**
 * Returns the value to encode for an object, converted if the client requested a conversion. Throws 406 if that conversion is not possible.
 */
export async function oneValue(
  object: AnyObject,
  convertTo: OutputFormat['convertTo'],
  encoding: ResourceEncoding,
): Promise<JsonObject> {
  switch (convertTo?.kind) {
    case undefined:
      return decoded(object);
    case 'Table':
      return tableValue({ objects: [object], resourceVersion: revisionOf(object) }, convertTo, encoding);
    case 'PartialObjectMetadata':
      return metadataOf(object, convertTo);
    case 'PartialObjectMetadataList':
      throw wrongConversion(convertTo.kind, encoding, false);
  }
}

/** Whether stored bytes are already in the response format. */
export const isStoredForm = ({ mediaType, isPretty }: OutputFormat): boolean =>
  mediaType === 'application/json' && !isPretty;

/** Lists whose stored objects are larger than this in total are encoded in slices, unless the stored bytes can be sent as they are. */
const MAX_WHOLE_BYTES = 256 << 10;

/** Encodes a list. Stored objects are not decoded if the client accepts JSON. */
export async function encodeList(page: ObjectPage, encoding: ResourceEncoding): Promise<Body | SlicedBody> {
  const { objects } = page;
  const { format } = encoding;
  const isCustom = isCustomKind(encoding.schema, encoding.resource);
  if (format.convertTo === undefined && isStoredForm(format) && areStored(objects) && !isCustom) {
    const head = JSON.stringify({ ...listHead(page, encoding), items: [] });
    const parts = [Buffer.from(head.slice(0, -2)), ...itemParts(objects), LIST_END];
    return { contentType: format.mediaType, parts };
  }
  const listWith = (some: readonly AnyObject[]) => listValue({ ...page, objects: some }, format.convertTo, encoding);
  if (areStored(objects) && !isOrdered(encoding) && sizeOf(objects) > MAX_WHOLE_BYTES) {
    const empty = await listWith([]); // throws if the list cannot be converted
    const { schema, turn } = encoding;
    return slicedList({ objects, empty, listWith, format, schema, turn });
  }
  return encodeValue(await listWith(objects), format, encoding.schema);
}

const sizeOf = (objects: readonly StoredObject[]): number => objects.reduce((sum, { bytes }) => sum + bytes.length, 0);

/**
 * Whether the rows of the resource's table are sorted, so that all rows are needed before the first one can be sent. Only the flow control
 * kinds have sorted tables; administrators create these objects, so there are few of them.
 */
const isOrdered = ({ format, resource }: ResourceEncoding): boolean =>
  format.convertTo?.kind === 'Table' && resource.group === 'flowcontrol.apiserver.k8s.io';

const LIST_END = Buffer.from(']}\n');

const areStored = (objects: readonly AnyObject[]): objects is readonly StoredObject[] =>
  objects.every((object) => object instanceof StoredObject);

/**
 * Returns the fields of a list other than its items. As in upstream, lists of custom kinds always have a `continue` field, even if it is
 * empty.
 */
const listHead = (page: ObjectPage, { schema, resource }: ResourceEncoding): JsonObject => ({
  kind: resource.listKind ?? listKind(resource.kind),
  apiVersion: apiVersionOf(resource),
  metadata: { ...(isCustomKind(schema, resource) ? { continue: '' } : {}), ...listMetadata(page) },
});

const listMetadata = ({ revision, remainingItemCount, ...page }: ObjectPage): JsonObject => ({
  resourceVersion: String(revision),
  ...(page.continue && { continue: page.continue }),
  ...(remainingItemCount !== undefined && { remainingItemCount }),
});

/**
 * Returns the value to encode for a list, converted if the client requested a conversion. Throws 406 if that conversion is not possible.
 */
export async function listValue(
  page: ObjectPage,
  convertTo: OutputFormat['convertTo'],
  encoding: ResourceEncoding,
): Promise<JsonObject> {
  switch (convertTo?.kind) {
    case undefined:
      return { ...listHead(page, encoding), items: page.objects.map((object) => itemOf(decoded(object), encoding)) };
    case 'Table':
      return tableValue({ ...page, resourceVersion: String(page.revision) }, convertTo, encoding);
    case 'PartialObjectMetadata':
      throw wrongConversion(convertTo.kind, encoding, true);
    case 'PartialObjectMetadataList':
      return {
        kind: convertTo.kind,
        apiVersion: apiVersionOf({ group: 'meta.k8s.io', version: convertTo.version }),
        metadata: listMetadata(page),
        items: page.objects.map((object) => metadataOf(object, convertTo)),
      };
  }
}

/** Returns an object as a list item: without kind and apiVersion, unless it is of a custom kind. */
const itemOf = ({ kind, apiVersion, ...item }: JsonObject, { schema, resource }: ResourceEncoding): JsonObject =>
  isCustomKind(schema, resource) ? { apiVersion, kind, ...item } : item;

const isCustomKind = (schema: Schema, resource: GroupVersionKind) => schema.kind(resource)?.custom !== undefined;
