/** Updates of status subresources. */
import type { ApiObject } from './api-object.ts';
import type { SubresourceStrategy } from './strategy.ts';

/** The metadata that a status update cannot change (ResetObjectMetaForStatus). */
const FROM_OLD = [
  'deletionTimestamp',
  'generation',
  'selfLink',
  'labels',
  'annotations',
  'finalizers',
  'ownerReferences',
];

/** The old object with the status of `object`, and with its metadata as far as a status update can change that. */
export const withStatusOf = (object: ApiObject, old: ApiObject): ApiObject => ({
  ...withNewStatus(object, old),
  metadata: statusMetadata(object, old),
});

/** The metadata of `object` with the fields of `old` that a status update cannot change. */
export function statusMetadata({ metadata }: ApiObject, old: ApiObject): ApiObject['metadata'] {
  const retained = FROM_OLD.map((name) => [name, old.metadata[name]] as const);
  const others = Object.entries(metadata).filter(([name]) => !FROM_OLD.includes(name));
  return Object.fromEntries([...others, ...retained.filter(([, value]) => value !== undefined)]) as typeof metadata;
}

function withNewStatus(object: ApiObject, old: ApiObject): ApiObject {
  const { status: _, ...others } = old;
  return object.status === undefined ? others : { ...others, status: object.status };
}

/** `object` with everything but metadata and status of `old`: for kinds whose status updates change metadata. */
export const withStatusAndMetadataOf = (object: ApiObject, old: ApiObject): ApiObject => ({
  ...withNewStatus(object, old),
  metadata: object.metadata,
});

/** A status subresource with errors of its own. */
export const statusWith = (validateUpdate: SubresourceStrategy['validateUpdate']): SubresourceStrategy => ({
  prepareForUpdate: withStatusOf,
  validateUpdate,
  resetFields: [['spec'], ['metadata']],
});
