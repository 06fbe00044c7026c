import type { ObjectMeta } from './object-meta.ts';
import type { NodeSelectorTerm } from './scheduling.ts';
import type { HostPathVolumeSource, NfsVolumeSource } from './volume.ts';

/** v1 PersistentVolume, as far as the node of a cluster mounts it. Other sources are there under their names. */
export type PersistentVolume = {
  metadata: ObjectMeta;
  spec: {
    claimRef?: { namespace?: string; name?: string; uid?: string };
    accessModes?: string[];
    volumeMode?: 'Filesystem' | 'Block';
    mountOptions?: string[];
    nodeAffinity?: { required?: { nodeSelectorTerms: NodeSelectorTerm[] } };
    local?: { path: string; fsType?: string };
    hostPath?: HostPathVolumeSource;
    nfs?: NfsVolumeSource;
    csi?: CsiPersistentVolumeSource;
  };
};

/** A volume of a CSI driver (core/v1 CSIPersistentVolumeSource). */
export type CsiPersistentVolumeSource = {
  driver: string;
  /** How the driver knows the volume. */
  volumeHandle: string;
  fsType?: string;
  volumeAttributes?: Record<string, string>;
  nodeStageSecretRef?: { name?: string; namespace?: string };
  nodePublishSecretRef?: { name?: string; namespace?: string };
};

/** A claim of a cluster's API, as far as the node asks. */
export type BoundClaim = {
  metadata: ObjectMeta;
  spec: { volumeName?: string };
  status?: { phase?: string };
};
