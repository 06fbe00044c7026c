/** Descriptions of pod volumes and storage. */
export const STORAGE = `
core.Volume: A volume of a pod: its name and one source.
  name: The name, unique in the pod.
*VolumeSource:
*Volume:
  emptyDir: An empty directory that is deleted with the pod.
  hostPath: A file or directory of the node.
  configMap: The entries of a ConfigMap as files.
  secret: The entries of a Secret as files.
  downwardAPI: Fields of the pod as files.
  projected: Several sources in one directory.
  persistentVolumeClaim: The storage of a PersistentVolumeClaim in the same namespace.
  ephemeral: A PersistentVolumeClaim that is created and deleted with the pod.
  csi: A volume of a CSI driver.
  nfs: A directory of an NFS server.
  iscsi: A disk of an iSCSI target.
  image: The files of an image.
core.EmptyDirVolumeSource: An empty directory that is deleted with the pod.
  medium: Memory for a file system in memory; empty for the disk of the node.
  sizeLimit: The greatest size. The pod is evicted if it needs more.
core.HostPathVolumeSource: A file or directory of the node.
  path: The path on the node.
  type: What must be there, or is created: Directory, DirectoryOrCreate, File, FileOrCreate, Socket and others.
core.ConfigMapVolumeSource: The entries of a ConfigMap as files.
core.SecretVolumeSource: The entries of a Secret as files.
  secretName: The name of the Secret.
core.ProjectedVolumeSource: Several sources in one directory.
  sources: The sources.
core.DownwardAPIVolumeSource: Fields of the pod as files.
*VolumeSource:
  items: The entries to use, with their paths. Default: all, each in a file with its key as the name.
  defaultMode: The mode of the files. Default 0644.
core.KeyToPath: An entry that becomes a file.
  key: The key of the entry.
  path: The path of the file in the volume.
  mode: The mode of the file.
core.VolumeProjection: One source of a projected volume.
  configMap: The entries of a ConfigMap.
  secret: The entries of a Secret.
  downwardAPI: Fields of the pod.
  serviceAccountToken: A token of the pod's ServiceAccount.
  clusterTrustBundle: Certificates of ClusterTrustBundles.
  podCertificate: A key and a certificate of the pod.
core.ServiceAccountTokenProjection: A token of the pod's ServiceAccount, renewed in time.
  audience: For whom the token is. Default: the API server.
  expirationSeconds: The lifetime of the token in seconds. Default one hour.
  path: The path of the file in the volume.
core.PersistentVolumeClaimVolumeSource: The storage of a PersistentVolumeClaim.
  claimName: The name of the claim.
core.EphemeralVolumeSource: A PersistentVolumeClaim that is created and deleted with the pod.
  volumeClaimTemplate: The claim to create.
core.CSIVolumeSource: A volume of a CSI driver that is created with the pod.
  driver: The name of the driver.
  volumeAttributes: Settings for the driver.
core.NFSVolumeSource: A directory of an NFS server.
  server: The host name or address of the server.
  path: The exported path.
core.ImageVolumeSource: The files of an image.
  reference: The image.
  pullPolicy: When the image is pulled: Always, IfNotPresent or Never.
core.VolumeMount: Where a container sees a volume.
  name: The name of the volume.
  mountPath: The path in the container.
  subPath: A path in the volume that is mounted instead of its root.
  subPathExpr: Like subPath, with $(NAME) for environment variables.
  readOnly: Whether the container may only read.
  recursiveReadOnly: Whether mounts below are read-only, too: Disabled, IfPossible or Enabled.
  mountPropagation: Whether later mounts are seen: None, HostToContainer or Bidirectional.
core.VolumeDevice: A volume that a container uses as a block device.
  name: The name of the volume, which is a PersistentVolumeClaim.
  devicePath: The path of the device in the container.
core.PersistentVolumeClaim: A request for storage, which gets a PersistentVolume.
core.PersistentVolumeClaimTemplate: A claim that is created for a pod.
core.PersistentVolumeClaimSpec: The requested storage.
  accessModes: ReadWriteOnce (one node), ReadOnlyMany, ReadWriteMany or ReadWriteOncePod.
  resources: The requested size, in requests.storage. It can only grow.
  storageClassName: The StorageClass. Absent: the default class; empty: a volume without a class.
  volumeName: The PersistentVolume that the claim has got.
  volumeMode: Filesystem or Block. Default Filesystem.
  selector: Selects PersistentVolumes by labels.
  dataSource: A snapshot or claim whose content the new volume gets.
  dataSourceRef: The same, for any kind of source.
  volumeAttributesClassName: The VolumeAttributesClass.
core.PersistentVolumeClaimStatus: The observed state of a claim.
  phase: Pending, Bound or Lost.
  capacity: The size of the volume.
  accessModes: The access modes of the volume.
  allocatedResources: The size to which the volume is being expanded.
core.PersistentVolume: A piece of storage, which a PersistentVolumeClaim can get.
core.PersistentVolumeSpec: A piece of storage: where it is, and what may use it.
  capacity: The size, in storage.
  accessModes: ReadWriteOnce (one node), ReadOnlyMany, ReadWriteMany or ReadWriteOncePod.
  persistentVolumeReclaimPolicy: What happens when the claim is deleted: Retain or Delete.
  storageClassName: The StorageClass of the volume.
  claimRef: The claim that has the volume.
  volumeMode: Filesystem or Block.
  mountOptions: Options for mount, such as noatime.
  nodeAffinity: The nodes on which the volume can be used.
  hostPath: A directory of the node, for tests.
  local: A disk or directory of one node.
  csi: A volume of a CSI driver.
  nfs: A directory of an NFS server.
  iscsi: A disk of an iSCSI target.
core.PersistentVolumeStatus: The observed state of a PersistentVolume.
  phase: Pending, Available, Bound, Released or Failed.
  lastPhaseTransitionTime: When the phase last changed.
core.VolumeResourceRequirements: The size of the requested storage.
  requests: The least size, in storage.
  limits: The greatest size, in storage.
storage.StorageClass: A class of storage: who makes the volumes, and how.
  provisioner: The program that creates volumes.
  parameters: Settings for the provisioner.
  reclaimPolicy: What happens to a volume when its claim is deleted: Delete or Retain.
  mountOptions: Options for mount of the new volumes.
  allowVolumeExpansion: Whether claims may grow.
  volumeBindingMode: When a claim gets its volume: Immediate, or WaitForFirstConsumer (a pod that uses it).
  allowedTopologies: The nodes or zones in which volumes are created.
storage.CSIDriver: A CSI driver, and how pods and nodes use it.
storage.CSINode: The CSI drivers of a node.
storage.CSIStorageCapacity: How much storage of a class is free in a part of the cluster.
  capacity: The free space.
  maximumVolumeSize: The size of the largest volume that can be created.
  nodeTopology: Selects the nodes that reach the storage.
  storageClassName: The StorageClass.
storage.VolumeAttachment: A volume that is or shall be attached to a node.
storage.VolumeAttributesClass: Settings of volumes that can be changed while the volumes are used.
  driverName: The CSI driver.
  parameters: The settings.
storagemigration.StorageVersionMigration: A request to store all objects of a resource again in the current version.
`;
