import { type ApiObject, listAt, objectsAt, textAt, valueAt } from '@podwright/kube-kinds';

/**
 * A reference to an object in the pod's namespace: `secret/NAME`, `configmap/NAME`, `serviceaccount/NAME`, `claim/NAME` or
 * `resourceclaim/NAME`.
 */
export type Reference = string;

const CONTAINERS = ['containers', 'initContainers', 'ephemeralContainers'];
export const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';

/**
 * Whether a pod is the mirror pod of a static pod. Mirror pods are created by kubelets, which must not gain access to objects through them.
 */
export const isMirrorPod = (pod: ApiObject): boolean =>
  valueAt(pod, 'metadata', 'annotations', MIRROR_ANNOTATION) !== undefined;

/** Returns the pod's references to other objects. */
export function referencesOf(pod: ApiObject): Reference[] {
  const pulls = objectsAt(pod, 'spec', 'imagePullSecrets').map((one) => secret(one, 'name'));
  const containers = CONTAINERS.flatMap((field) => objectsAt(pod, 'spec', field)).flatMap(containerReferences);
  const volumes = objectsAt(pod, 'spec', 'volumes').flatMap((volume) => volumeReferences(pod, volume));
  const all = [
    reference('serviceaccount', pod, 'spec', 'serviceAccountName'),
    ...pulls,
    ...containers,
    ...volumes,
    ...claimReferences(pod),
  ];
  return all.filter((one) => !one.endsWith('/'));
}

const reference = (kind: string, value: unknown, ...path: string[]): Reference => `${kind}/${textAt(value, ...path)}`;
const secret = (value: unknown, ...path: string[]): Reference => reference('secret', value, ...path);
const configMap = (value: unknown, ...path: string[]): Reference => reference('configmap', value, ...path);

function containerReferences(container: unknown): Reference[] {
  const sources = objectsAt(container, 'envFrom');
  const values = objectsAt(container, 'env').map((variable) => valueAt(variable, 'valueFrom'));
  return [
    ...sources.flatMap((one) => [secret(one, 'secretRef', 'name'), configMap(one, 'configMapRef', 'name')]),
    ...values.flatMap((one) => [secret(one, 'secretKeyRef', 'name'), configMap(one, 'configMapKeyRef', 'name')]),
  ];
}

/** Names of the volume sources that have a `secretRef` field. */
const WITH_SECRET = ['cephfs', 'cinder', 'flexVolume', 'iscsi', 'rbd', 'scaleIO', 'storageos'];

function volumeReferences({ metadata }: ApiObject, volume: unknown): Reference[] {
  const sources = objectsAt(volume, 'projected', 'sources');
  const isEphemeral = valueAt(volume, 'ephemeral') !== undefined;
  return [
    secret(volume, 'secret', 'secretName'),
    secret(volume, 'azureFile', 'secretName'),
    secret(volume, 'csi', 'nodePublishSecretRef', 'name'),
    ...WITH_SECRET.map((field) => secret(volume, field, 'secretRef', 'name')),
    ...sources.flatMap((source) => [secret(source, 'secret', 'name'), configMap(source, 'configMap', 'name')]),
    configMap(volume, 'configMap', 'name'),
    reference('claim', volume, 'persistentVolumeClaim', 'claimName'),
    ...(isEphemeral ? [`claim/${metadata.name}-${textAt(volume, 'name')}`] : []),
  ];
}

/** Returns references to the ResourceClaims named by the pod and to those created from its templates. */
function claimReferences(pod: ApiObject): Reference[] {
  const created = new Map(
    objectsAt(pod, 'status', 'resourceClaimStatuses').map((one) => [
      textAt(one, 'name'),
      textAt(one, 'resourceClaimName'),
    ]),
  );
  const claims = listAt(pod, 'spec', 'resourceClaims').map((claim) => {
    const named = textAt(claim, 'resourceClaimName');
    return named === '' ? (created.get(textAt(claim, 'name')) ?? '') : named;
  });
  const extended = textAt(pod, 'status', 'extendedResourceClaimStatus', 'resourceClaimName');
  return [...claims, extended].map((name) => `resourceclaim/${name}`);
}
