import type { ObjectMeta } from './object-meta.ts';
import type { NodeSelectorTerm } from './scheduling.ts';
import type { HostPathVolumeSource, NfsVolumeSource } from './volume.ts';

/** v1 PersistentVolume with the fields that a node needs to mount it. Other sources are kept under their names. */
export type PersistentVolume = {
  metadata: ObjectMeta;
  spec: {
    capacity?: { storage?: string };
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
  /** The driver's ID of the volume. */
  volumeHandle: string;
  fsType?: string;
  volumeAttributes?: Record<string, string>;
  nodeStageSecretRef?: { name?: string; namespace?: string };
  nodePublishSecretRef?: { name?: string; namespace?: string };
  nodeExpandSecretRef?: { name?: string; namespace?: string };
};

/** v1 PersistentVolumeClaim of a cluster, with the fields that a node reads. */
export type BoundClaim = {
  metadata: ObjectMeta;
  spec: { volumeName?: string; accessModes?: string[]; resources?: { requests?: { storage?: string } } };
  status?: ClaimStatus;
};

/** v1 PersistentVolumeClaimStatus. */
export type ClaimStatus = {
  phase?: string;
  capacity?: Record<string, string>;
  conditions?: ClaimCondition[];
  /** Sizes that the volume is being expanded to, by resource. */
  allocatedResources?: Record<string, string>;
  /**
   * State of the expansion, by resource: `NodeResizePending`, `NodeResizeInProgress`, `NodeResizeInfeasible`, or a controller's.
   */
  allocatedResourceStatuses?: Record<string, string>;
};

export type ClaimCondition = {
  type: string;
  status: string;
  lastProbeTime?: string | null;
  lastTransitionTime?: string | null;
  reason?: string;
  message?: string;
};

/** A claim and its bound volume. */
export type BoundVolume = { claim: BoundClaim; volume: PersistentVolume };
