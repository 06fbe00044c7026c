import { CSI_PLUGIN } from '@podwright/kube-api';
import type { PersistentVolumeKind, PersistentVolumeRequest } from '../volumes/persistent-volumes.ts';
import type { CsiBlockVolumes } from './csi-block-volumes.ts';
import { type CsiVolume, metricName, type SecretReference } from './csi-volume.ts';
import type { CsiVolumes } from './csi-volumes.ts';
import { labelsFor } from './selinux-label.ts';

/** Returns the implementation for PersistentVolumes backed by a CSI driver. */
export function csiPersistentVolumes(volumes: CsiVolumes, blockVolumes: CsiBlockVolumes): PersistentVolumeKind {
  return {
    name: CSI_PLUGIN,
    supports: ({ spec }) => spec.csi !== undefined,
    metricName: ({ spec }) => metricName(spec.csi!),
    setUp: (request: PersistentVolumeRequest, signal) => {
      const volume = persistentCsiVolume(request);
      return volumes.setUp(request.pod, { ...volume, labels: labelsFor(request.pod, request.volume.name) }, signal);
    },
    map: (request: PersistentVolumeRequest, signal) => {
      const volume = persistentCsiVolume(request);
      return blockVolumes.setUp(request.pod, { ...volume, isBlock: true }, signal);
    },
  };
}

function persistentCsiVolume({ bound, volume: { name: nameInPod }, readOnly }: PersistentVolumeRequest): CsiVolume {
  const {
    volume: { metadata, spec },
    claim,
  } = bound;
  const { driver, volumeHandle, fsType = '', volumeAttributes = {}, ...refs } = spec.csi!;
  return {
    name: metadata.name,
    nameInPod,
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
    expandSecret: placeOf(refs.nodeExpandSecretRef),
    bound: spec.capacity?.storage === undefined ? undefined : { claim, size: spec.capacity.storage },
  };
}

function placeOf(ref: Partial<SecretReference> | undefined): SecretReference | undefined {
  return ref && { namespace: ref.namespace ?? '', name: ref.name ?? '' };
}
