import type { Strategies } from '../strategy.ts';
import { CSI_DRIVER } from './csi-driver.ts';
import { CSI_NODE } from './csi-node.ts';
import { CSI_STORAGE_CAPACITY } from './csi-storage-capacity.ts';
import { PERSISTENT_VOLUME } from './persistent-volume.ts';
import { PERSISTENT_VOLUME_CLAIM } from './persistent-volume-claim.ts';
import { STORAGE_CLASS } from './storage-class.ts';
import { VOLUME_ATTACHMENT } from './volume-attachment.ts';
import { VOLUME_ATTRIBUTES_CLASS } from './volume-attributes-class.ts';

/** Volumes, their classes and drivers. */
export const STORAGE_STRATEGIES: Strategies = {
  persistentvolumes: PERSISTENT_VOLUME,
  persistentvolumeclaims: PERSISTENT_VOLUME_CLAIM,
  'storageclasses.storage.k8s.io': STORAGE_CLASS,
  'volumeattributesclasses.storage.k8s.io': VOLUME_ATTRIBUTES_CLASS,
  'csidrivers.storage.k8s.io': CSI_DRIVER,
  'csinodes.storage.k8s.io': CSI_NODE,
  'csistoragecapacities.storage.k8s.io': CSI_STORAGE_CAPACITY,
  'volumeattachments.storage.k8s.io': VOLUME_ATTACHMENT,
};
