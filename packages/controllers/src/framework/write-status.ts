import type { KubeObject, Resource } from '@podwright/kube-api';
import type { ControllerParts } from './controller.ts';

/**
 * Updates the status subresource of an object and adds the response to the cache. `object` has the resource version read by the caller, so
 * updating a stale object fails with a conflict.
 */
export async function writeStatus<T extends KubeObject>(
  { client, objects, signal }: Pick<ControllerParts, 'client' | 'objects' | 'signal'>,
  resource: Resource,
  object: T,
): Promise<T> {
  const { group, version, kind } = resource;
  const apiVersion = group === '' ? version : `${group}/${version}`;
  const body = { ...object, apiVersion, kind };
  const updated = await client.update<T>(resource, body, { subresource: 'status', signal });
  objects.of<T>(resource).written(updated);
  return updated;
}
