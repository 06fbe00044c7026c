/** Updates of status subresources. */
import type { ApiObject } from './api-object.ts';
import type { SubresourceStrategy } from './strategy.ts';

/** The metadata fields that a status update cannot change (ResetObjectMetaForStatus). */
const FROM_OLD = [
  'deletionTimestamp',
  'generation',
  'selfLink',
  'labels',
  'annotations',
  'finalizers',
  'ownerReferences',
];

/** Returns the old object with the status of `object`, and with those metadata changes that a status update can make. */
export const withStatusOf = (object: ApiObject, old: ApiObject): ApiObject => ({
  ...withNewStatus(object, old),
  metadata: statusMetadata(object, old),
});

/** Returns the metadata of `object`, in which the fields that a status update cannot change are those of `old`. */
export function statusMetadata({ metadata }: ApiObject, old: ApiObject): ApiObject['metadata'] {
  const retained = FROM_OLD.map((name) => [name, old.metadata[name]] as const);
  const others = Object.entries(metadata).filter(([name]) => !FROM_OLD.includes(name));
  return Object.fromEntries([...others, ...retained.filter(([, value]) => value !== undefined)]) as typeof metadata;
}

function withNewStatus(object: ApiObject, old: ApiObject): ApiObject {
  const { status: _, ...others } = old;
  return object.status === undefined ? others : { ...others, status: object.status };
}

/** Returns `old` with the metadata and status of `object`. Used for kinds whose status updates change metadata. */
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
