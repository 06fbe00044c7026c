import type {
  ConfigMapProjection,
  ConfigMapVolumeSource,
  CsiVolumeSource,
  DownwardApiFile,
  DownwardApiProjection,
  DownwardApiVolumeSource,
  EmptyDirVolumeSource,
  HostPathVolumeSource,
  ImageVolumeSource,
  KeyToPath,
  NfsVolumeSource,
  ObjectFieldSelector,
  PersistentVolumeClaimVolumeSource,
  ProjectedVolumeSource,
  ResourceFieldSelector,
  SecretProjection,
  SecretVolumeSource,
  ServiceAccountTokenProjection,
  Volume,
  VolumeProjection,
} from '../objects/types.ts';
import { anything, boolean, int64, integer, list, mapOf, object, oneOf, quantity, string } from './decoder.ts';

const mode = integer();

const items = list(object<KeyToPath>({ key: string, path: string, mode }, { required: ['key', 'path'] }));

export const fieldRef = object<ObjectFieldSelector>(
  { apiVersion: string, fieldPath: string },
  { required: ['fieldPath'] },
);

export const resourceFieldRef = object<ResourceFieldSelector>(
  { containerName: string, resource: string, divisor: quantity },
  { required: ['resource'] },
);

const emptyDir = object<EmptyDirVolumeSource>({ medium: string, sizeLimit: quantity });

const hostPathTypes = oneOf(
  '',
  'DirectoryOrCreate',
  'Directory',
  'FileOrCreate',
  'File',
  'Socket',
  'CharDevice',
  'BlockDevice',
);

const hostPath = object<HostPathVolumeSource>({ path: string, type: hostPathTypes }, { required: ['path'] });

const configMap = object<ConfigMapVolumeSource>(
  { name: string, items, defaultMode: mode, optional: boolean },
  { required: ['name'] },
);

const secret = object<SecretVolumeSource>(
  { secretName: string, items, defaultMode: mode, optional: boolean },
  { required: ['secretName'] },
);

const downwardFiles = list(
  object<DownwardApiFile>({ path: string, fieldRef, resourceFieldRef, mode }, { required: ['path'] }),
);

const downwardAPI = object<DownwardApiVolumeSource>({ items: downwardFiles, defaultMode: mode });

const projection = object<VolumeProjection>(
  {
    configMap: object<ConfigMapProjection>({ name: string, items, optional: boolean }, { required: ['name'] }),
    secret: object<SecretProjection>({ name: string, items, optional: boolean }, { required: ['name'] }),
    downwardAPI: object<DownwardApiProjection>({ items: downwardFiles }),
    serviceAccountToken: object<ServiceAccountTokenProjection>(
      { audience: string, expirationSeconds: int64, path: string },
      { required: ['path'] },
    ),
  },
  {
    needApi: {
      serviceAccountToken: 'needs an API server, which signs tokens; put a token of your own into a Secret',
      clusterTrustBundle: 'needs an API server; put the certificates into a ConfigMap',
      podCertificate: 'needs an API server, which signs certificates; put a certificate into a Secret',
    },
  },
);

const projected = object<ProjectedVolumeSource>({ sources: list(projection), defaultMode: mode });

const image = object<ImageVolumeSource>(
  { reference: string, pullPolicy: oneOf('Always', 'IfNotPresent', 'Never') },
  { required: ['reference'] },
);

const nfs = object<NfsVolumeSource>(
  { server: string, path: string, readOnly: boolean },
  { required: ['server', 'path'] },
);

const persistentVolumeClaim = object<PersistentVolumeClaimVolumeSource>(
  { claimName: string, readOnly: boolean },
  { required: ['claimName'] },
);

const csi = object<CsiVolumeSource>(
  {
    driver: string,
    readOnly: boolean,
    fsType: string,
    volumeAttributes: mapOf(string),
    nodePublishSecretRef: object<{ name?: string }>({ name: string }),
  },
  { required: ['driver'] },
);

/** Volume sources that require a driver, a cloud or a cluster. */
const REMOTE_SOURCES = [
  ...['awsElasticBlockStore', 'azureDisk', 'azureFile', 'cephfs', 'cinder', 'fc', 'flexVolume'],
  ...['flocker', 'gcePersistentDisk', 'gitRepo', 'glusterfs', 'iscsi'],
  ...['photonPersistentDisk', 'portworxVolume', 'quobyte', 'rbd', 'scaleIO', 'storageos', 'vsphereVolume'],
];

const REFUSED_SOURCES: Record<string, string> = {
  ...Object.fromEntries(
    REMOTE_SOURCES.map((source) => [
      source,
      'needs a driver that a standalone node does not have; mount it on the host and use hostPath, or use nfs or persistentVolumeClaim',
    ]),
  ),
};
const API_SOURCES = {
  ephemeral:
    'needs a cluster, which makes a claim for each pod; use emptyDir, or persistentVolumeClaim for persistent data',
};

export const volume = object<Volume>(
  {
    name: string,
    emptyDir,
    hostPath,
    configMap,
    secret,
    downwardAPI,
    projected,
    image,
    nfs,
    persistentVolumeClaim,
    csi,
    ephemeral: anything,
  },
  { required: ['name'], refused: REFUSED_SOURCES, needApi: API_SOURCES },
);
