import type { Resource, Schema } from '@podwright/kube-schema';
import { groupResource } from '../status/api-error.ts';

/** The versions in which objects of kinds with several served versions are stored, by group. */
const STORAGE_VERSIONS: Readonly<Record<string, { group: string; version: string }>> = {
  autoscaling: { group: 'autoscaling', version: 'v2' },
  'events.k8s.io': { group: '', version: 'v1' },
};

/** The resource whose objects are stored for a served resource: itself unless its kind has several versions. */
export function storedResource(schema: Schema, resource: Resource): Resource {
  const storage = STORAGE_VERSIONS[resource.group];
  return (storage && schema.resource(storage.group, storage.version, resource.plural)) ?? resource;
}

/** The name of a resource's objects in the store. All served versions of a kind share it. */
export const storeResource = (schema: Schema, resource: Resource): string =>
  groupResource(storedResource(schema, resource));
