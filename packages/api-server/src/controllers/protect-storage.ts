/**
 * Storage object protection: claims, volumes and volume attributes classes have a finalizer that is removed once an object is being deleted
 * and no longer in use (upstream's pvc-protection, pv-protection and vac-protection controllers).
 */

import type { StoredObject, StoreEvent } from '@podwright/api-machinery';
import type { ApiObject } from '@podwright/kube-kinds';
import type { ControllerParts } from './controller-parts.ts';
import { followResource } from './follow-resource.ts';
import { type Location, locationOf } from './location.ts';
import { ATTRIBUTES_CLASSES, CLAIMS, claimsOf, classesOf, PROTECTED, VOLUMES } from './storage-use.ts';
import { WorkQueue } from './work-queue.ts';

/** Protects storage objects until the signal aborts. */
export async function protectStorage(parts: ControllerParts): Promise<void> {
  const handle = (location: Location) => updateFinalizer(parts, location);
  const queue = new WorkQueue({ ...parts, handle, failure: 'update the protection of a storage object failed' });
  const own = (resource: string) => (object: StoredObject) => queue.add(locationOf(resource, object));
  const classes = (object: StoredObject) => {
    for (const name of classesOf(object.decode())) queue.add({ resource: ATTRIBUTES_CLASSES, namespace: '', name });
  };
  const claims = (pod: StoredObject) => {
    const { namespace } = locationOf('pods', pod);
    for (const name of claimsOf(pod.decode())) queue.add({ resource: CLAIMS, namespace, name });
  };
  await Promise.all([
    follow(parts, CLAIMS, { object: own(CLAIMS), ended: classes }),
    follow(parts, VOLUMES, { object: own(VOLUMES), ended: classes }),
    follow(parts, ATTRIBUTES_CLASSES, { object: own(ATTRIBUTES_CLASSES) }),
    follow(parts, 'pods', { ended: claims }),
    queue.run(),
  ]);
}

type Reaction = {
  /** Called with every new version of a followed object. */
  object?: (object: StoredObject) => void;
  /**
   * Called with the last version of an object before it was replaced or deleted, because what that version used might no longer be in use.
   */
  ended?: (object: StoredObject) => void;
};

function follow(parts: ControllerParts, resource: string, { object: seen, ended }: Reaction): Promise<void> {
  const changed = ({ type, object, previous }: StoreEvent) => {
    if (type !== 'DELETED') seen?.(object);
    if (previous !== undefined) ended?.(previous);
    if (type === 'DELETED') ended?.(object);
  };
  const listed = (objects: readonly StoredObject[]) => objects.forEach((one) => void seen?.(one));
  return followResource(resource, { listed, changed }, parts);
}

async function updateFinalizer({ store, registryOf, context }: ControllerParts, location: Location): Promise<void> {
  const { finalizer, isUsed } = PROTECTED[location.resource]!;
  const next = (object: ApiObject): ApiObject => {
    const { finalizers = [], ...metadata } = object.metadata;
    const isDeleted = metadata.deletionTimestamp !== undefined;
    if (finalizers.includes(finalizer) !== isDeleted || (isDeleted && isUsed(store, object))) return object;
    const after = isDeleted ? finalizers.filter((one) => one !== finalizer) : [...finalizers, finalizer];
    return { ...object, metadata: { ...metadata, ...(after.length > 0 && { finalizers: after }) } };
  };
  const present = store.get(location)?.decode();
  if (present === undefined || next(present) === present) return;
  await registryOf(location.resource).change(location, next, context());
}
