/** Updates of status subresources. */
import type { ApiObject } from './api-object.ts';

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

/** The metadata of `object` with the fields of `old` that a status update cannot change. */
export function statusMetadata({ metadata }: ApiObject, old: ApiObject): ApiObject['metadata'] {
  const retained = FROM_OLD.map((name) => [name, old.metadata[name]] as const);
  const others = Object.entries(metadata).filter(([name]) => !FROM_OLD.includes(name));
  return Object.fromEntries([...others, ...retained.filter(([, value]) => value !== undefined)]) as typeof metadata;
}
