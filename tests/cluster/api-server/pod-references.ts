/** The objects in its namespace to which a pod refers. */
import { type ApiObject, at, isObject, listAt, objectAt, textAt } from './json.ts';

export type Reference = { kind: string; name: string };

const CONTAINERS = ['containers', 'initContainers', 'ephemeralContainers'];

export function referencesOf(pod: ApiObject): Reference[] {
  const containers = CONTAINERS.flatMap((field) => listAt(pod, 'spec', field));
  const named = [
    ...listAt(pod, 'spec', 'imagePullSecrets').map((one) => ({ kind: 'Secret', name: textAt(one, 'name') })),
    { kind: 'ServiceAccount', name: textAt(pod, 'spec', 'serviceAccountName') },
    ...containers.flatMap(containerReferences),
    ...listAt(pod, 'spec', 'volumes').flatMap((volume) => volumeReferences(pod, volume)),
    ...claimReferences(pod),
  ];
  return named.filter(({ name }) => name !== '');
}

function containerReferences(container: unknown): Reference[] {
  const from = listAt(container, 'envFrom').flatMap((source) => [
    { kind: 'ConfigMap', name: textAt(source, 'configMapRef', 'name') },
    { kind: 'Secret', name: textAt(source, 'secretRef', 'name') },
  ]);
  const single = listAt(container, 'env').flatMap((variable) => [
    { kind: 'ConfigMap', name: textAt(variable, 'valueFrom', 'configMapKeyRef', 'name') },
    { kind: 'Secret', name: textAt(variable, 'valueFrom', 'secretKeyRef', 'name') },
  ]);
  return [...from, ...single];
}

function volumeReferences(pod: ApiObject, volume: unknown): Reference[] {
  const ephemeral = isObject(at(volume, 'ephemeral')) ? `${pod.metadata.name}-${textAt(volume, 'name')}` : '';
  const projected = listAt(volume, 'projected', 'sources').flatMap((source) => [
    { kind: 'ConfigMap', name: textAt(source, 'configMap', 'name') },
    { kind: 'Secret', name: textAt(source, 'secret', 'name') },
  ]);
  return [
    { kind: 'ConfigMap', name: textAt(volume, 'configMap', 'name') },
    { kind: 'Secret', name: textAt(volume, 'secret', 'secretName') },
    { kind: 'Secret', name: textAt(volume, 'csi', 'nodePublishSecretRef', 'name') },
    { kind: 'PersistentVolumeClaim', name: textAt(volume, 'persistentVolumeClaim', 'claimName') },
    { kind: 'PersistentVolumeClaim', name: ephemeral },
    ...projected,
  ];
}

function claimReferences(pod: ApiObject): Reference[] {
  const made = listAt(pod, 'status', 'resourceClaimStatuses').map((one) => textAt(one, 'resourceClaimName'));
  const named = listAt(pod, 'spec', 'resourceClaims').map((one) => textAt(one, 'resourceClaimName'));
  const extended = textAt(pod, 'status', 'extendedResourceClaimStatus', 'resourceClaimName');
  return [...made, ...named, extended].map((name) => ({ kind: 'ResourceClaim', name }));
}

/** Whether the pod is a mirror of a static pod. */
export const isMirror = (pod: ApiObject): boolean =>
  objectAt(pod, 'metadata', 'annotations')['kubernetes.io/config.mirror'] !== undefined;
