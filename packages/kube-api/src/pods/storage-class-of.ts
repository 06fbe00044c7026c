const BETA_CLASS = 'volume.beta.kubernetes.io/storage-class';

type WithClass = { metadata: { annotations?: Record<string, string> }; spec?: { storageClassName?: string } };

/**
 * Returns the name of the StorageClass of a PersistentVolumeClaim or a PersistentVolume; '' if it has none. As upstream, the annotation of
 * Kubernetes 1.5 has priority over the field (k8s.io/component-helpers/storage/volume, GetPersistentVolumeClaimClass).
 */
export function storageClassOf({ metadata, spec }: WithClass): string {
  return metadata.annotations?.[BETA_CLASS] ?? spec?.storageClassName ?? '';
}
