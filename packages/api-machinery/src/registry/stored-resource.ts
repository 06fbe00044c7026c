import type { Resource, Schema } from '@podwright/kube-schema';
import { groupResource } from '../status/api-error.ts';

/** Storage versions of kinds that are served in several versions, by group. */
const STORAGE_VERSIONS: Readonly<Record<string, { group: string; version: string }>> = {
  autoscaling: { group: 'autoscaling', version: 'v2' },
  'events.k8s.io': { group: '', version: 'v1' },
};

/**
 * Returns the resource with the storage version of a served resource. This is the resource itself unless its kind is served in several
 * versions.
 */
export function storedResource(schema: Schema, resource: Resource): Resource {
  const storage = STORAGE_VERSIONS[resource.group];
  return (storage && schema.resource(storage.group, storage.version, resource.plural)) ?? resource;
}

/** Returns the name under which a resource's objects are stored, which is shared by all served versions of a kind. */
export const storeResource = (schema: Schema, resource: Resource): string =>
  groupResource(storedResource(schema, resource));
