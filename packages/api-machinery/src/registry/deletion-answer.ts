import type { ApiObject } from '@podwright/kube-kinds';
import type { Resource } from '@podwright/kube-schema';
import { groupResource } from '../status/api-error.ts';
import type { Deleted } from './delete-object.ts';

/** The Status (meta/v1) that reports the removal of an object. */
export type SuccessStatus = {
  kind: 'Status';
  apiVersion: 'v1';
  metadata: Record<string, never>;
  status: 'Success';
  details: { name?: string; group?: string; kind: string; uid?: string };
};

/** Resources that return the last state of the object on DELETE. */
const RETURN_OBJECT: ReadonlySet<string> = new Set([
  'namespaces',
  'persistentvolumeclaims',
  'persistentvolumes',
  'pods',
  'podtemplates',
  'resourcequotas',
  'serviceaccounts',
  'services',
  'csidrivers.storage.k8s.io',
  'csinodes.storage.k8s.io',
  'deviceclasses.resource.k8s.io',
  'devicetaintrules.resource.k8s.io',
  'resourceclaims.resource.k8s.io',
  'resourceclaimtemplates.resource.k8s.io',
  'resourceslices.resource.k8s.io',
  'storageclasses.storage.k8s.io',
  'volumeattachments.storage.k8s.io',
  'volumeattributesclasses.storage.k8s.io',
]);

/**
 * Returns the response to a DELETE: the object if it still exists or its resource always returns it, otherwise a Status with the object's
 * UID.
 */
export function deletionAnswer(resource: Resource, { object, removed }: Deleted): ApiObject | SuccessStatus {
  if (!removed || RETURN_OBJECT.has(groupResource(resource))) return object;
  const { group, plural } = resource;
  const { name, uid } = object.metadata;
  const details = { name, ...(group === '' ? {} : { group }), kind: plural, uid };
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details };
}
