import type {
  ConfigMapProjection,
  ConfigMapVolumeSource,
  DownwardApiFile,
  DownwardApiProjection,
  DownwardApiVolumeSource,
  EmptyDirVolumeSource,
  HostPathVolumeSource,
  ImageVolumeSource,
  KeyToPath,
  ObjectFieldSelector,
  ProjectedVolumeSource,
  ResourceFieldSelector,
  SecretProjection,
  SecretVolumeSource,
  Volume,
  VolumeProjection,
} from '../types.ts';
import { boolean, integer, list, object, oneOf, quantity, string } from './decoder.ts';

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
  },
  { notYet: ['serviceAccountToken', 'clusterTrustBundle', 'podCertificate'] },
);

const projected = object<ProjectedVolumeSource>({ sources: list(projection), defaultMode: mode });

const image = object<ImageVolumeSource>(
  { reference: string, pullPolicy: oneOf('Always', 'IfNotPresent', 'Never') },
  { required: ['reference'] },
);

const OTHER_SOURCES = [
  ...['awsElasticBlockStore', 'azureDisk', 'azureFile', 'cephfs', 'cinder', 'csi', 'ephemeral', 'fc', 'flexVolume'],
  ...['flocker', 'gcePersistentDisk', 'gitRepo', 'glusterfs', 'iscsi', 'nfs', 'persistentVolumeClaim'],
  ...['photonPersistentDisk', 'portworxVolume', 'quobyte', 'rbd', 'scaleIO', 'storageos', 'vsphereVolume'],
];

export const volume = object<Volume>(
  { name: string, emptyDir, hostPath, configMap, secret, downwardAPI, projected, image },
  { required: ['name'], notYet: OTHER_SOURCES },
);
