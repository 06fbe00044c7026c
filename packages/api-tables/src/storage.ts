import type { KubeMetadata, KubeObject } from '@podwright/kube-api';
import {
  AGE,
  boolean,
  type Column,
  isDeleted,
  type KindTables,
  kindTable,
  NAME,
  named,
  text,
  UNSET,
  wide,
} from './column.ts';
import { type JsonQuantity, quantityText } from './quantity-text.ts';

type Volume = KubeObject & {
  spec: {
    capacity?: { storage?: JsonQuantity };
    accessModes?: string[];
    persistentVolumeReclaimPolicy?: string;
    claimRef?: { namespace?: string; name?: string };
    storageClassName?: string;
    volumeAttributesClassName?: string;
    volumeMode?: string;
  };
  status?: { phase?: string; reason?: string };
};

const VOLUME: Column<Volume>[] = [
  NAME,
  text('Capacity', 'Size of the volume', ({ spec }) => quantityText(spec.capacity?.storage)),
  text('Access Modes', 'How the volume can be mounted', ({ spec }) => modesText(spec.accessModes)),
  text('Reclaim Policy', 'What happens to it after its claim', ({ spec }) => spec.persistentVolumeReclaimPolicy ?? ''),
  text('Status', 'Phase of the volume', phaseOf),
  text('Claim', 'Claim to which it is bound', ({ spec: { claimRef } }) =>
    claimRef ? `${claimRef.namespace ?? ''}/${claimRef.name ?? ''}` : '',
  ),
  text('StorageClass', 'Class of the volume', ({ metadata, spec }) => classOf(metadata, spec)),
  text('VolumeAttributesClass', 'Class of its attributes', ({ spec }) => spec.volumeAttributesClassName ?? UNSET),
  text('Reason', 'Why the volume has failed', ({ status }) => status?.reason ?? ''),
  AGE,
  wide(text('VolumeMode', 'Whether it is a file system or a device', ({ spec }) => spec.volumeMode ?? UNSET)),
];

type Claim = KubeObject & {
  spec: {
    volumeName?: string;
    storageClassName?: string;
    volumeAttributesClassName?: string;
    volumeMode?: string;
  };
  status?: { phase?: string; accessModes?: string[]; capacity?: { storage?: JsonQuantity } };
};

const CLAIM: Column<Claim>[] = [
  NAME,
  text('Status', 'Phase of the claim', phaseOf),
  text('Volume', 'Volume to which it is bound', ({ spec }) => spec.volumeName ?? ''),
  text('Capacity', 'Size of the volume', ({ spec, status }) =>
    spec.volumeName ? quantityText(status?.capacity?.storage) : '',
  ),
  text('Access Modes', 'How the volume can be mounted', ({ spec, status }) =>
    spec.volumeName ? modesText(status?.accessModes) : '',
  ),
  text('StorageClass', 'Class of the claim', ({ metadata, spec }) => classOf(metadata, spec)),
  text('VolumeAttributesClass', 'Class of its attributes', ({ spec }) => spec.volumeAttributesClassName ?? UNSET),
  AGE,
  wide(text('VolumeMode', 'Whether it is a file system or a device', ({ spec }) => spec.volumeMode ?? UNSET)),
];

function phaseOf({ metadata, status }: KubeObject & { status?: { phase?: string } }): string {
  return isDeleted(metadata) ? 'Terminating' : (status?.phase ?? '');
}

/** Returns the name of the storage class. The annotation predates the field and takes precedence, as in upstream. */
function classOf({ annotations }: KubeMetadata, { storageClassName = '' }: { storageClassName?: string }): string {
  return annotations?.['volume.beta.kubernetes.io/storage-class'] ?? storageClassName;
}

const MODES = { ReadWriteOnce: 'RWO', ReadOnlyMany: 'ROX', ReadWriteMany: 'RWX', ReadWriteOncePod: 'RWOP' };

/** Returns the abbreviated access modes, without duplicates and in upstream's order. */
function modesText(modes: string[] = []): string {
  return Object.entries(MODES)
    .flatMap(([mode, short]) => (modes.includes(mode) ? [short] : []))
    .join(',');
}

type StorageClass = KubeObject & {
  provisioner?: string;
  reclaimPolicy?: string;
  volumeBindingMode?: string;
  allowVolumeExpansion?: boolean;
};

const isDefaultClass = ({ annotations = {} }: KubeMetadata): boolean =>
  annotations['storageclass.kubernetes.io/is-default-class'] === 'true' ||
  annotations['storageclass.beta.kubernetes.io/is-default-class'] === 'true';

const STORAGE_CLASS: Column<StorageClass>[] = [
  named(
    text('Name', 'Name of the object', ({ metadata }) =>
      isDefaultClass(metadata) ? `${metadata.name} (default)` : (metadata.name ?? ''),
    ),
  ),
  text('Provisioner', 'Driver that provisions volumes', ({ provisioner }) => provisioner ?? ''),
  text('ReclaimPolicy', 'What happens to volumes after their claims', ({ reclaimPolicy }) => reclaimPolicy ?? 'Delete'),
  text('VolumeBindingMode', 'When claims are bound', ({ volumeBindingMode }) => volumeBindingMode ?? 'Immediate'),
  text('AllowVolumeExpansion', 'Whether volumes can grow', ({ allowVolumeExpansion }) => allowVolumeExpansion ?? false),
  AGE,
];

type VolumeAttributesClass = KubeObject & { driverName?: string };

const VOLUME_ATTRIBUTES_CLASS: Column<VolumeAttributesClass>[] = [
  NAME,
  text('DriverName', 'Driver of the volumes', ({ driverName }) => driverName ?? ''),
  AGE,
];

type VolumeAttachment = KubeObject & {
  spec: { attacher?: string; nodeName?: string; source?: { persistentVolumeName?: string } };
  status?: { attached?: boolean };
};

const VOLUME_ATTACHMENT: Column<VolumeAttachment>[] = [
  NAME,
  named(text('Attacher', 'Driver that attaches the volume', ({ spec }) => spec.attacher ?? '')),
  text('PV', 'Volume that is attached', ({ spec }) => spec.source?.persistentVolumeName ?? ''),
  text('Node', 'Node to which it is attached', ({ spec }) => spec.nodeName ?? ''),
  boolean('Attached', 'Whether it is attached', ({ status }) => status?.attached ?? false),
  AGE,
];

export const STORAGE: KindTables = {
  PersistentVolume: kindTable(VOLUME),
  PersistentVolumeClaim: kindTable(CLAIM),
  'StorageClass.storage.k8s.io': kindTable(STORAGE_CLASS),
  'VolumeAttributesClass.storage.k8s.io': kindTable(VOLUME_ATTRIBUTES_CLASS),
  'VolumeAttachment.storage.k8s.io': kindTable(VOLUME_ATTACHMENT),
};
