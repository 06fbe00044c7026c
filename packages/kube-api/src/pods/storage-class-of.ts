const BETA_CLASS = 'volume.beta.kubernetes.io/storage-class';

type WithClass = { metadata: { annotations?: Record<string, string> }; spec?: { storageClassName?: string } };

/**
 * Returns the StorageClass name of a PersistentVolumeClaim or PersistentVolume; '' if there is none. As in upstream, the annotation from
 * Kubernetes 1.5 takes precedence over the field (k8s.io/component-helpers/storage/volume, GetPersistentVolumeClaimClass).
 */
export function storageClassOf({ metadata, spec }: WithClass): string {
  return metadata.annotations?.[BETA_CLASS] ?? spec?.storageClassName ?? '';
}
