import { azureDisk, azureFile, cinder, cloudDisk } from './cloud-volumes.ts';
import { fibreChannel, flexVolume, flocker, glusterfs, quobyte, storageOs } from './cluster-volumes.ts';
import { csi } from './csi-volume.ts';
import { validateIscsi } from './iscsi-volume.ts';
import { requires, type SourceRule } from './source-rules.ts';
import { validateHostPath, validateLocal, validateNfs } from './volume-paths.ts';

type VolumeSource = {
  name: string;
  validate: SourceRule;
  /** Path to report in errors about this volume source, if different from `name`. */
  field?: string;
  /** Path to report in the error if this is a second volume source and so not allowed, if different from `name`. */
  secondField?: string;
  /** Whether this source is allowed if the volume already has another one. */
  mayBeSecond?: boolean;
};

/** Source types of PersistentVolumes, in the order checked by upstream. */
export const VOLUME_SOURCES: readonly VolumeSource[] = [
  { name: 'hostPath', validate: validateHostPath },
  { name: 'gcePersistentDisk', validate: cloudDisk('pdName'), field: 'persistentDisk' },
  { name: 'awsElasticBlockStore', validate: cloudDisk('volumeID') },
  { name: 'glusterfs', validate: glusterfs },
  { name: 'flocker', validate: flocker },
  { name: 'nfs', validate: validateNfs },
  { name: 'rbd', validate: requires('monitors', 'image') },
  { name: 'quobyte', validate: quobyte },
  { name: 'cephfs', validate: requires('monitors'), secondField: 'cephFS' },
  { name: 'iscsi', validate: validateIscsi },
  { name: 'cinder', validate: cinder },
  { name: 'fc', validate: fibreChannel },
  { name: 'flexVolume', validate: flexVolume, mayBeSecond: true },
  { name: 'azureFile', validate: azureFile },
  { name: 'vsphereVolume', validate: requires('volumePath') },
  { name: 'photonPersistentDisk', validate: requires('pdID') },
  { name: 'portworxVolume', validate: requires('volumeID') },
  { name: 'azureDisk', validate: azureDisk },
  { name: 'scaleIO', validate: requires('gateway', 'system', 'volumeName') },
  { name: 'local', validate: validateLocal },
  { name: 'storageos', validate: storageOs },
  { name: 'csi', validate: csi },
];
