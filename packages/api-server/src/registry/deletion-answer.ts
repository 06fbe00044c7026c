import type { ApiObject } from '@podwright/kube-kinds';
import type { Resource } from '@podwright/kube-schema';
import { groupResource } from '../status/api-error.ts';
import type { Deleted } from './delete-object.ts';

/** A meta/v1 Status for a removed object. */
export type SuccessStatus = {
  kind: 'Status';
  apiVersion: 'v1';
  metadata: Record<string, never>;
  status: 'Success';
  details: { name?: string; group?: string; kind: string; uid?: string };
};

/** The resources of which a DELETE returns the last state. */
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

/** The answer to a DELETE: the object if it remains, or if its kind returns it; otherwise a Status with its UID. */
export function deletionAnswer(resource: Resource, { object, removed }: Deleted): ApiObject | SuccessStatus {
  if (!removed || RETURN_OBJECT.has(groupResource(resource))) return object;
  const { group, plural } = resource;
  const { name, uid } = object.metadata;
  const details = { name, ...(group === '' ? {} : { group }), kind: plural, uid };
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details };
}
