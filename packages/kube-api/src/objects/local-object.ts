import type { ResourceList } from './container.ts';
import type { ObjectMeta } from './object-meta.ts';
import type { Pod, Toleration } from './pod.ts';

/** v1 ConfigMap. `data` is text, `binaryData` is base64; no key may be in both. */
export type ConfigMap = {
  apiVersion: 'v1';
  kind: 'ConfigMap';
  metadata: ObjectMeta;
  data?: Record<string, string>;
  binaryData?: Record<string, string>;
  immutable?: boolean;
};

/** v1 Secret. `data` is base64; defaulting merges `stringData` into `data`. */
export type Secret = {
  apiVersion: 'v1';
  kind: 'Secret';
  metadata: ObjectMeta;
  type?: string;
  data?: Record<string, string>;
  stringData?: Record<string, string>;
  immutable?: boolean;
};

/** node.k8s.io/v1 RuntimeClass. It is cluster-scoped, so the namespace in `metadata` is ''. */
export type RuntimeClass = {
  apiVersion: 'node.k8s.io/v1';
  kind: 'RuntimeClass';
  metadata: ObjectMeta;
  handler: string;
  overhead?: { podFixed?: ResourceList };
  scheduling?: { nodeSelector?: Record<string, string>; tolerations?: Toleration[] };
};

export type VolumeAccessMode = 'ReadWriteOnce' | 'ReadOnlyMany' | 'ReadWriteMany' | 'ReadWriteOncePod';

/**
 * v1 PersistentVolumeClaim. On a standalone node, it is backed by a directory on the node, whatever it requests, and only the node writes
 * `status`.
 */
export type PersistentVolumeClaim = {
  apiVersion: 'v1';
  kind: 'PersistentVolumeClaim';
  metadata: ObjectMeta;
  spec: {
    accessModes?: VolumeAccessMode[];
    resources?: { requests?: { storage?: string }; limits?: { storage?: string } };
    storageClassName?: string;
    /** `Filesystem` or `Block`; the latter is supported only on nodes that serve the Kubernetes API. */
    volumeMode?: 'Filesystem' | 'Block';
  };
  status?: {
    /** `Bound` once a pod has used the claim. */
    phase: 'Pending' | 'Bound';
    accessModes?: VolumeAccessMode[];
    capacity?: { storage?: string };
  };
};

/** Objects referred to by pods and stored by a standalone node itself. */
export type LocalObject = ConfigMap | Secret | RuntimeClass | PersistentVolumeClaim;

/** Any object that a manifest for a standalone node may contain. */
export type ManifestObject = Pod | LocalObject;
