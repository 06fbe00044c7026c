/** One file in a volume: its key in the ConfigMap or Secret, its path in the volume, and its file mode. */
export type KeyToPath = { key: string; path: string; mode?: number };

/** The volume is on the node's disk if `medium` is '', and a tmpfs if it is `Memory`. `sizeLimit` is a quantity of bytes. */
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

/** A container's resource, such as `limits.cpu`, in units of `divisor`, rounded up. */
export type ResourceFieldSelector = { containerName?: string; resource: string; divisor?: string };

/** A file of a downward API volume. Exactly one of `fieldRef` and `resourceFieldRef` is set. */
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

/** A token for the pod's service account, issued by the API server. If `audience` is empty, the token is for the API server. */
export type ServiceAccountTokenProjection = { audience?: string; expirationSeconds?: number; path: string };

/** One source of a projected volume. Exactly one field is set. */
export type VolumeProjection = {
  configMap?: ConfigMapProjection;
  secret?: SecretProjection;
  downwardAPI?: DownwardApiProjection;
  /** Service account token to project. Set only in pods from an API server. */
  serviceAccountToken?: ServiceAccountTokenProjection;
};

export type ProjectedVolumeSource = { sources?: VolumeProjection[]; defaultMode?: number };

/** An image whose file system is mounted as the volume. `reference` and `pullPolicy` work as for container images. */
export type ImageVolumeSource = { reference: string; pullPolicy?: 'Always' | 'IfNotPresent' | 'Never' };

/** A directory exported by `server`. */
export type NfsVolumeSource = { server: string; path: string; readOnly?: boolean };

/** On a standalone node, a claim is backed by a directory, even if there is no PersistentVolumeClaim of that name. */
export type PersistentVolumeClaimVolumeSource = { claimName: string; readOnly?: boolean };

/** A volume created for the pod by a CSI driver on the node (core/v1 CSIVolumeSource). */
export type CsiVolumeSource = {
  driver: string;
  readOnly?: boolean;
  fsType?: string;
  volumeAttributes?: Record<string, string>;
  /** A Secret in the pod's namespace. */
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
  /** Supported only in clusters, where a controller creates the PVC. */
  ephemeral?: object;
};
