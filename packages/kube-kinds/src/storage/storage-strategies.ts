import type { Strategies } from '../strategy.ts';
import { CSI_DRIVER } from './csi-driver.ts';
import { CSI_NODE } from './csi-node.ts';
import { CSI_STORAGE_CAPACITY } from './csi-storage-capacity.ts';
import { DEVICE_CLASS } from './device-class.ts';
import { PERSISTENT_VOLUME } from './persistent-volume.ts';
import { PERSISTENT_VOLUME_CLAIM } from './persistent-volume-claim.ts';
import { RESOURCE_CLAIM } from './resource-claim.ts';
import { RESOURCE_CLAIM_TEMPLATE } from './resource-claim-template.ts';
import { RESOURCE_SLICE } from './resource-slice.ts';
import { STORAGE_CLASS } from './storage-class.ts';
import { VOLUME_ATTACHMENT } from './volume-attachment.ts';
import { VOLUME_ATTRIBUTES_CLASS } from './volume-attributes-class.ts';

/** Strategies of volumes, their classes and drivers, and devices (resource.k8s.io). */
export const STORAGE_STRATEGIES: Strategies = {
  persistentvolumes: PERSISTENT_VOLUME,
  persistentvolumeclaims: PERSISTENT_VOLUME_CLAIM,
  'storageclasses.storage.k8s.io': STORAGE_CLASS,
  'volumeattributesclasses.storage.k8s.io': VOLUME_ATTRIBUTES_CLASS,
  'csidrivers.storage.k8s.io': CSI_DRIVER,
  'csinodes.storage.k8s.io': CSI_NODE,
  'csistoragecapacities.storage.k8s.io': CSI_STORAGE_CAPACITY,
  'volumeattachments.storage.k8s.io': VOLUME_ATTACHMENT,
  'deviceclasses.resource.k8s.io': DEVICE_CLASS,
  'resourceclaims.resource.k8s.io': RESOURCE_CLAIM,
  'resourceclaimtemplates.resource.k8s.io': RESOURCE_CLAIM_TEMPLATE,
  'resourceslices.resource.k8s.io': RESOURCE_SLICE,
};
