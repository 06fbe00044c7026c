/** storage.k8s.io/v1 objects, with the fields read by a kubelet. Their defaults have already been set by the API server. */
import type { KubeObject } from './kube-object.ts';

export type VolumeLifecycleMode = 'Persistent' | 'Ephemeral';

/** Specifies how kubelets have to use a CSI driver. Optional: a driver need not have one. */
export type CsiDriver = KubeObject & {
  spec: {
    /** Whether volumes must be attached to a node before they are used. */
    attachRequired?: boolean;
    /** Whether to pass the pod's name, namespace, UID and service account to NodePublishVolume. */
    podInfoOnMount?: boolean;
    volumeLifecycleModes?: VolumeLifecycleMode[];
    fsGroupPolicy?: 'ReadWriteOnceWithFSType' | 'File' | 'None';
    tokenRequests?: CsiTokenRequest[] | null;
    serviceAccountTokenInSecrets?: boolean;
    /** Whether to call NodePublishVolume periodically while the pod is running, to update the volume. */
    requiresRepublish?: boolean;
    /** Whether volumes support the SELinux mount option `context`. */
    seLinuxMount?: boolean;
  };
};

/** If `audience` is empty, the token is for the API server. */
export type CsiTokenRequest = { audience: string; expirationSeconds?: number };

/** A request to attach a volume to a node, and its state. */
export type VolumeAttachment = KubeObject & {
  status?: {
    attached: boolean;
    /** Data passed from the driver's controller to the driver on the node by the kubelet. */
    attachmentMetadata?: Record<string, string>;
    attachError?: { message?: string };
  };
};

/** storage.k8s.io/v1 CSINode: the CSI drivers on a node. Upstream writes an empty list as null. */
export type CsiNode = KubeObject & { spec: { drivers: CsiNodeDriver[] | null } };

export type CsiNodeDriver = {
  name: string;
  /** The driver's ID for the node. */
  nodeID: string;
  topologyKeys: string[] | null;
  /** Maximum number of volumes that can be attached. */
  allocatable?: { count?: number };
};
