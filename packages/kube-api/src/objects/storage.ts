/** Objects of storage.k8s.io/v1 that a kubelet reads, as far as it looks at them; the API server has filled in the defaults. */
import type { KubeObject } from './kube-object.ts';

export type VolumeLifecycleMode = 'Persistent' | 'Ephemeral';

/** What a CSI driver wants of kubelets; optional beside the driver itself. */
export type CsiDriver = KubeObject & {
  spec: {
    /** Volumes are attached to a node before it uses them. */
    attachRequired?: boolean;
    /** The driver is told of the pod. */
    podInfoOnMount?: boolean;
    volumeLifecycleModes?: VolumeLifecycleMode[];
    fsGroupPolicy?: 'ReadWriteOnceWithFSType' | 'File' | 'None';
    tokenRequests?: CsiTokenRequest[] | null;
    serviceAccountTokenInSecrets?: boolean;
    /** The driver is called again while the pod runs, to bring the volume up to date. */
    requiresRepublish?: boolean;
    /** Volumes can be mounted with a label of SELinux. */
    seLinuxMount?: boolean;
  };
};

/** `audience` '' is the API server's own. */
export type CsiTokenRequest = { audience: string; expirationSeconds?: number };

/** That a volume is to be attached to a node, and whether it is. */
export type VolumeAttachment = KubeObject & {
  status?: {
    attached: boolean;
    /** From the driver's controller, for its calls on the node. */
    attachmentMetadata?: Record<string, string>;
    attachError?: { message?: string };
  };
};
