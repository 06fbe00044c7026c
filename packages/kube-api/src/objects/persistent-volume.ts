import type { ObjectMeta } from './object-meta.ts';
import type { NodeSelectorTerm } from './scheduling.ts';
import type { HostPathVolumeSource, NfsVolumeSource } from './volume.ts';

/** v1 PersistentVolume, with the fields needed to mount it. Other volume sources are preserved under their field names. */
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
  /** The driver's ID for the volume. */
  volumeHandle: string;
  fsType?: string;
  volumeAttributes?: Record<string, string>;
  nodeStageSecretRef?: { name?: string; namespace?: string };
  nodePublishSecretRef?: { name?: string; namespace?: string };
  nodeExpandSecretRef?: { name?: string; namespace?: string };
};

/** v1 PersistentVolumeClaim from a cluster, with the fields read by a node. */
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
  /** Target sizes of volume expansions, by resource. */
  allocatedResources?: Record<string, string>;
  /** Expansion state by resource: `NodeResizePending`, `NodeResizeInProgress`, `NodeResizeInfeasible`, or a state set by a controller. */
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

/** A claim and the volume it is bound to. */
export type BoundVolume = { claim: BoundClaim; volume: PersistentVolume };
