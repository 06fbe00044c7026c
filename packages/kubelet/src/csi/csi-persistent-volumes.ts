import type { PersistentVolume } from '../api/types.ts';
import type { PersistentVolumeKind, PersistentVolumeRequest } from '../volumes/persistent-volumes.ts';
import { CSI_PLUGIN, type CsiVolume, type SecretPlace } from './csi-volume.ts';
import type { CsiVolumes } from './csi-volumes.ts';

/** PersistentVolumes of CSI drivers. */
export function csiPersistentVolumes(volumes: CsiVolumes): PersistentVolumeKind {
  return {
    name: CSI_PLUGIN,
    supports: ({ spec }) => spec.csi !== undefined,
    setUp: ({ pod, persistentVolume, readOnly }: PersistentVolumeRequest, signal) =>
      volumes.setUp(pod, persistentCsiVolume(persistentVolume, readOnly), signal),
  };
}

function persistentCsiVolume({ metadata, spec }: PersistentVolume, readOnly: boolean): CsiVolume {
  const { driver, volumeHandle, fsType = '', volumeAttributes = {}, ...refs } = spec.csi!;
  return {
    name: metadata.name,
    driver,
    handle: volumeHandle,
    mode: 'Persistent',
    readOnly,
    fsType,
    attributes: volumeAttributes,
    mountOptions: spec.mountOptions ?? [],
    accessModes: spec.accessModes ?? [],
    publishSecret: placeOf(refs.nodePublishSecretRef),
    stageSecret: placeOf(refs.nodeStageSecretRef),
  };
}

function placeOf(ref: Partial<SecretPlace> | undefined): SecretPlace | undefined {
  return ref && { namespace: ref.namespace ?? '', name: ref.name ?? '' };
}
