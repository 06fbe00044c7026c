import type { KubeObject, OwnerReference, Resource } from '@podwright/kube-api';

/** A stored object that controls others. */
export type Owner = KubeObject & { metadata: { name: string; namespace: string; uid: string } };

/** Returns the owner reference of the object's controller. An object has at most one. */
export function controllerOf({ metadata }: KubeObject): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true);
}

/** Returns the controller reference to `owner` (metav1.NewControllerRef). */
export function controllerReference(resource: Resource, { metadata }: Owner): OwnerReference {
  const { name, uid } = metadata;
  return { ...ownerKind(resource), name, uid, controller: true, blockOwnerDeletion: true };
}

/**
 * Whether `owner` is the object's controller. The resource is the owner's. An owner reference from another namespace or to another name
 * does not count.
 */
export function isControlledBy(object: KubeObject, resource: Resource, { metadata }: Owner): boolean {
  const controller = controllerOf(object);
  if (controller === undefined || !isOfKind(controller, resource)) return false;
  const { namespace, name, uid } = metadata;
  return object.metadata.namespace === namespace && controller.name === name && controller.uid === uid;
}

/** Whether an owner reference has the resource's kind and group. Its version may differ. */
export function isOfKind({ apiVersion, kind }: OwnerReference, resource: Resource): boolean {
  const slash = apiVersion.indexOf('/');
  return kind === resource.kind && (slash < 0 ? '' : apiVersion.slice(0, slash)) === resource.group;
}

function ownerKind({ group, version, kind }: Resource): { apiVersion: string; kind: string } {
  return { apiVersion: group === '' ? version : `${group}/${version}`, kind };
}
