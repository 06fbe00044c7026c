import type { KubeObject, LabelSelector, NodeSelectorTerm } from '@podwright/kube-api';

/** A core/v1 PersistentVolumeClaim, limited to the fields read by controllers. */
export type Claim = KubeObject & {
  metadata: { name: string; namespace: string; uid: string };
  spec: {
    volumeName?: string;
    storageClassName?: string;
    volumeAttributesClassName?: string;
    accessModes?: string[];
    volumeMode?: string;
    selector?: LabelSelector;
    resources?: { requests?: { storage?: string } };
  };
  status?: { phase?: string; accessModes?: string[]; capacity?: Record<string, string> };
};

/** A core/v1 PersistentVolume, limited to the fields read by controllers. */
export type Volume = KubeObject & {
  metadata: { name: string; uid?: string };
  spec: {
    capacity?: Record<string, string>;
    claimRef?: { apiVersion?: string; kind?: string; namespace?: string; name?: string; uid?: string };
    accessModes?: string[];
    volumeMode?: string;
    storageClassName?: string;
    volumeAttributesClassName?: string;
    persistentVolumeReclaimPolicy?: string;
    nodeAffinity?: { required?: { nodeSelectorTerms: NodeSelectorTerm[] } };
    hostPath?: { path: string; type?: string };
    csi?: { driver: string; volumeHandle: string };
  };
  status?: { phase?: string; message?: string; reason?: string };
};

/** storage.k8s.io/v1 StorageClass. */
export type StorageClass = KubeObject & {
  metadata: { name: string };
  provisioner: string;
  reclaimPolicy?: string;
  volumeBindingMode?: string;
  allowedTopologies?: { matchLabelExpressions?: { key: string; values: string[] }[] }[];
};

/** A storage.k8s.io/v1 CSIDriver, limited to the fields read by controllers. */
export type CsiDriverObject = KubeObject & { metadata: { name: string }; spec: { attachRequired?: boolean } };

/** storage.k8s.io/v1 VolumeAttachment. */
export type Attachment = KubeObject & {
  metadata: { name: string; uid?: string };
  spec: { attacher: string; nodeName: string; source: { persistentVolumeName?: string } };
  status?: { attached?: boolean; attachError?: { message?: string } };
};
