import type { ObjectMeta } from './object-meta.ts';
import type { NodeSelectorTerm } from './scheduling.ts';
import type { HostPathVolumeSource, NfsVolumeSource } from './volume.ts';

/** v1 PersistentVolume, as far as the node of a cluster mounts it. Other sources are there under their names. */
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
  /** How the driver knows the volume. */
  volumeHandle: string;
  fsType?: string;
  volumeAttributes?: Record<string, string>;
  nodeStageSecretRef?: { name?: string; namespace?: string };
  nodePublishSecretRef?: { name?: string; namespace?: string };
  nodeExpandSecretRef?: { name?: string; namespace?: string };
};

/** A claim of a cluster's API, as far as the node asks. */
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
  /** What is being made of it, by resource. */
  allocatedResources?: Record<string, string>;
  /** How far its change is, by resource: `NodeResizePending`, `NodeResizeInProgress`, `NodeResizeInfeasible`, or a controller's. */
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

/** A claim, and the volume that it is bound to. */
export type BoundVolume = { claim: BoundClaim; volume: PersistentVolume };
