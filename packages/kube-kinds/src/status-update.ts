/** Status subresource updates. */
import type { ApiObject } from './api-object.ts';
import type { SubresourceStrategy } from './strategy.ts';

/** Metadata fields preserved by status updates (ResetObjectMetaForStatus). */
const FROM_OLD = [
  'deletionTimestamp',
  'generation',
  'selfLink',
  'labels',
  'annotations',
  'finalizers',
  'ownerReferences',
];

/** Returns the old object with the status of `object`, and with metadata changes as far as allowed in a status update. */
export const withStatusOf = (object: ApiObject, old: ApiObject): ApiObject => ({
  ...withNewStatus(object, old),
  metadata: statusMetadata(object, old),
});

/** Returns the metadata of `object`, except that fields preserved by status updates come from `old`. */
export function statusMetadata({ metadata }: ApiObject, old: ApiObject): ApiObject['metadata'] {
  const retained = FROM_OLD.map((name) => [name, old.metadata[name]] as const);
  const others = Object.entries(metadata).filter(([name]) => !FROM_OLD.includes(name));
  return Object.fromEntries([...others, ...retained.filter(([, value]) => value !== undefined)]) as typeof metadata;
}

function withNewStatus(object: ApiObject, old: ApiObject): ApiObject {
  const { status: _, ...others } = old;
  return object.status === undefined ? others : { ...others, status: object.status };
}

/** Returns `old` with the metadata and status of `object`. For kinds where status updates change metadata. */
export const withStatusAndMetadataOf = (object: ApiObject, old: ApiObject): ApiObject => ({
  ...withNewStatus(object, old),
  metadata: object.metadata,
});

/** Returns a status subresource with the given validation. */
export const statusWith = (validateUpdate: SubresourceStrategy['validateUpdate']): SubresourceStrategy => ({
  prepareForUpdate: withStatusOf,
  validateUpdate,
  resetFields: [['spec'], ['metadata']],
});
