import { PodwrightError } from '@podwright/base';
import { formatTime, type LocalObject, type PersistentVolumeClaim, type Pod } from '@podwright/kube-api';
import type { ClaimVolume } from './claims.ts';

/** Annotation with the path of a claim's directory on the host. */
const DIRECTORY_ANNOTATION = 'podwright.dev/directory';

/**
 * Returns the node's claims: those defined by manifests, and those used by pods without a PersistentVolumeClaim object, which `podman kube
 * play` allows too.
 */
export function claimObjects(
  objects: readonly LocalObject[],
  volumes: readonly ClaimVolume[],
): PersistentVolumeClaim[] {
  const keyOf = ({ namespace, name }: { namespace: string; name: string }) => `${namespace}/${name}`;
  const directories = new Map(volumes.map((volume) => [keyOf(volume), volume.path]));
  const claims = objects.filter((object) => object.kind === 'PersistentVolumeClaim');
  const described = new Set(claims.map(({ metadata }) => keyOf(metadata)));
  const others = volumes.filter((volume) => !described.has(keyOf(volume))).map(bareClaim);
  return [...claims, ...others].map((claim) => withStatus(claim, directories.get(keyOf(claim.metadata))));
}

function bareClaim({ namespace, name, createdAtMs }: ClaimVolume): PersistentVolumeClaim {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, namespace, uid: '', creationTimestamp: formatTime(createdAtMs) },
    spec: { accessModes: ['ReadWriteOnce'], volumeMode: 'Filesystem' },
  };
}

function withStatus(claim: PersistentVolumeClaim, directory: string | undefined): PersistentVolumeClaim {
  if (directory === undefined) return { ...claim, status: { phase: 'Pending' } };
  const { metadata, spec } = claim;
  const annotations = { ...metadata.annotations, [DIRECTORY_ANNOTATION]: directory };
  const status = { phase: 'Bound' as const, accessModes: spec.accessModes, capacity: spec.resources?.requests };
  return { ...claim, metadata: { ...metadata, annotations }, status };
}

/** Throws `failed_precondition` if the claim is used by a pod that has not terminated. */
export function refuseUsedClaim(pods: readonly Pod[], { namespace, name }: { namespace: string; name: string }): void {
  const users = pods.filter(
    ({ metadata, spec, status }) =>
      metadata.namespace === namespace &&
      !['Succeeded', 'Failed'].includes(status?.phase ?? '') &&
      (spec.volumes ?? []).some(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === name),
  );
  if (users.length === 0) return;
  const names = users.map(({ metadata }) => metadata.name).join(', ');
  const what = `delete persistentvolumeclaim ${namespace}/${name}`;
  throw new PodwrightError('failed_precondition', `${what}: it is used by ${names}; delete what uses it first`);
}
