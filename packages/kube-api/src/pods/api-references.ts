import { everyContainer, type PodSpec, type Volume, type VolumeProjection } from '../objects/types.ts';

/**
 * Returns the plural name of a type of API object referred to by the pod, such as `secrets`, or `undefined` if there are none. If there are
 * several, returns the first in upstream's order (pkg/api/pod: HasAPIObjectReference).
 */
export function apiReference(spec: PodSpec): string | undefined {
  if (spec.serviceAccountName) return 'serviceaccounts';
  const env = everyContainer(spec).flatMap((container) => container.env ?? []);
  const envFrom = everyContainer(spec).flatMap((container) => container.envFrom ?? []);
  const pulls = (spec.imagePullSecrets ?? []).length > 0;
  const volumes = spec.volumes ?? [];
  const projections = volumes.flatMap(({ projected }) => projected?.sources ?? []);
  const ofSecret = ({ secret }: Volume | VolumeProjection) => secret !== undefined;
  const ofConfigMap = ({ configMap }: Volume | VolumeProjection) => configMap !== undefined;
  if (pulls || [...volumes, ...projections].some(ofSecret)) return 'secrets';
  if (env.some(({ valueFrom }) => valueFrom?.secretKeyRef) || envFrom.some(({ secretRef }) => secretRef))
    return 'secrets';
  if ([...volumes, ...projections].some(ofConfigMap)) return 'configmaps';
  if (env.some(({ valueFrom }) => valueFrom?.configMapKeyRef) || envFrom.some(({ configMapRef }) => configMapRef))
    return 'configmaps';
  return volumes.some(({ persistentVolumeClaim }) => persistentVolumeClaim) ? 'persistentvolumeclaims' : undefined;
}
