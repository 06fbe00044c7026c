/** One file of a volume: its key, its path in the volume, and its mode. */
export type KeyToPath = { key: string; path: string; mode?: number };

/** `medium` '' is the node's disk, `Memory` a tmpfs; `sizeLimit` is a quantity of bytes. */
export type EmptyDirVolumeSource = { medium?: string; sizeLimit?: string };

export type HostPathType =
  | ''
  | 'DirectoryOrCreate'
  | 'Directory'
  | 'FileOrCreate'
  | 'File'
  | 'Socket'
  | 'CharDevice'
  | 'BlockDevice';

export type HostPathVolumeSource = { path: string; type?: HostPathType };

export type ConfigMapVolumeSource = { name: string; items?: KeyToPath[]; defaultMode?: number; optional?: boolean };

export type SecretVolumeSource = { secretName: string; items?: KeyToPath[]; defaultMode?: number; optional?: boolean };

/** A field of the pod, such as `metadata.labels['app']`. */
export type ObjectFieldSelector = { apiVersion?: string; fieldPath: string };

/** A resource of a container, such as `limits.cpu`, in units of `divisor`, rounded up. */
export type ResourceFieldSelector = { containerName?: string; resource: string; divisor?: string };

/** Exactly one of `fieldRef` and `resourceFieldRef` is set. */
export type DownwardApiFile = {
  path: string;
  fieldRef?: ObjectFieldSelector;
  resourceFieldRef?: ResourceFieldSelector;
  mode?: number;
};

export type DownwardApiVolumeSource = { items?: DownwardApiFile[]; defaultMode?: number };

export type ConfigMapProjection = { name: string; items?: KeyToPath[]; optional?: boolean };
export type SecretProjection = { name: string; items?: KeyToPath[]; optional?: boolean };
export type DownwardApiProjection = { items?: DownwardApiFile[] };

/** A token of the pod's service account, signed by the API server. An empty `audience` means the API server. */
export type ServiceAccountTokenProjection = { audience?: string; expirationSeconds?: number; path: string };

/** Exactly one field is set. */
export type VolumeProjection = {
  configMap?: ConfigMapProjection;
  secret?: SecretProjection;
  downwardAPI?: DownwardApiProjection;
  /** Set only in pods from an API server. */
  serviceAccountToken?: ServiceAccountTokenProjection;
};

export type ProjectedVolumeSource = { sources?: VolumeProjection[]; defaultMode?: number };

/** An image whose files are the volume; `reference` and `pullPolicy` are as for a container. */
export type ImageVolumeSource = { reference: string; pullPolicy?: 'Always' | 'IfNotPresent' | 'Never' };

/** A directory exported by `server`. */
export type NfsVolumeSource = { server: string; path: string; readOnly?: boolean };

/** On a lone node a claim is a directory, whether or not a PersistentVolumeClaim of that name exists. */
export type PersistentVolumeClaimVolumeSource = { claimName: string; readOnly?: boolean };

/** A volume that a CSI driver on the node creates for the pod (core/v1 CSIVolumeSource). */
export type CsiVolumeSource = {
  driver: string;
  readOnly?: boolean;
  fsType?: string;
  volumeAttributes?: Record<string, string>;
  /** A Secret of the pod's namespace. */
  nodePublishSecretRef?: { name?: string };
};

/** A named volume with exactly one source. */
export type Volume = {
  name: string;
  emptyDir?: EmptyDirVolumeSource;
  hostPath?: HostPathVolumeSource;
  configMap?: ConfigMapVolumeSource;
  secret?: SecretVolumeSource;
  downwardAPI?: DownwardApiVolumeSource;
  projected?: ProjectedVolumeSource;
  image?: ImageVolumeSource;
  nfs?: NfsVolumeSource;
  persistentVolumeClaim?: PersistentVolumeClaimVolumeSource;
  csi?: CsiVolumeSource;
  /** Cluster only: a controller creates the PVC. */
  ephemeral?: object;
};
