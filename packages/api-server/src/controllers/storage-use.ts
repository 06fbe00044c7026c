/** Finds the users of claims, volumes and volume attributes classes, by the rules of upstream's protection controllers. */

import type { ObjectStore } from '@podwright/api-machinery';
import { type ApiObject, type JsonObject, objectAt, objectsAt, textAt } from '@podwright/kube-kinds';

export const CLAIMS = 'persistentvolumeclaims';
export const VOLUMES = 'persistentvolumes';
export const ATTRIBUTES_CLASSES = 'volumeattributesclasses.storage.k8s.io';

type IsUsed = (store: ObjectStore, object: ApiObject) => boolean;

/** The finalizers that admission adds to storage objects, and functions that check whether an object is in use. */
export const PROTECTED: Readonly<Record<string, { finalizer: string; isUsed: IsUsed }>> = {
  [CLAIMS]: { finalizer: 'kubernetes.io/pvc-protection', isUsed: isClaimUsed },
  [VOLUMES]: {
    finalizer: 'kubernetes.io/pv-protection',
    isUsed: (_, volume) => textAt(volume, 'status', 'phase') === 'Bound',
  },
  [ATTRIBUTES_CLASSES]: { finalizer: 'kubernetes.io/vac-protection', isUsed: isClassUsed },
};

/**
 * Whether a pod uses the claim, which it does from being scheduled until it is removed. Unscheduled pods do not count, because the kubelet
 * does not start pods whose claims are being deleted.
 */
function isClaimUsed(store: ObjectStore, claim: ApiObject): boolean {
  const { namespace = '' } = claim.metadata;
  const pods = store.list('pods', { namespace }).objects;
  const mentions = (bytes: Buffer) => bytes.includes('"persistentVolumeClaim":') || bytes.includes('"ephemeral":');
  return pods.some((pod) => mentions(pod.bytes) && usesClaim(pod.decode(), claim));
}

function usesClaim(pod: ApiObject, claim: ApiObject): boolean {
  if (textAt(pod, 'spec', 'nodeName') === '') return false;
  const { name } = claim.metadata;
  return objectsAt(pod, 'spec', 'volumes').some((volume) => {
    if (textAt(volume, 'persistentVolumeClaim', 'claimName') === name) return true;
    return ephemeralClaim(pod, volume) === name && !isShutDown(pod) && isControlledBy(claim, pod);
  });
}

/** Returns the names of the claims a pod refers to. */
export function claimsOf(pod: ApiObject): string[] {
  const names = objectsAt(pod, 'spec', 'volumes').map(
    (volume) => textAt(volume, 'persistentVolumeClaim', 'claimName') || ephemeralClaim(pod, volume),
  );
  return names.filter((name) => name !== undefined);
}

/** Returns the name of the claim that the ephemeral volume controller creates for a volume. */
function ephemeralClaim({ metadata: { name = '' } }: ApiObject, volume: JsonObject): string | undefined {
  return objectAt(volume, 'ephemeral') && `${name}-${textAt(volume, 'name')}`;
}

/**
 * Whether the kubelet has unmounted the pod's volumes, or the pod was force-deleted. Such a pod no longer uses its claims, even if
 * finalizers block its removal: a finalizer might in turn wait for a claim to be removed.
 */
const isShutDown = ({ metadata }: ApiObject): boolean =>
  metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0;

const isControlledBy = (object: ApiObject, { metadata: { uid } }: ApiObject): boolean =>
  objectsAt(object, 'metadata', 'ownerReferences').some((owner) => owner.controller === true && owner.uid === uid);

function isClassUsed(store: ObjectStore, { metadata: { name = '' } }: ApiObject): boolean {
  const users = [CLAIMS, VOLUMES].flatMap((resource) => store.list(resource).objects);
  return users.some((user) => user.bytes.includes(name) && classesOf(user.decode()).includes(name));
}

/** Returns the names of a claim's or volume's attributes classes. */
export const classesOf = (object: ApiObject): string[] =>
  [
    textAt(object, 'spec', 'volumeAttributesClassName'),
    textAt(object, 'status', 'currentVolumeAttributesClassName'),
    textAt(object, 'status', 'modifyVolumeStatus', 'targetVolumeAttributesClassName'),
  ].filter((name) => name !== '');
