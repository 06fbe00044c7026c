import { createHash } from 'node:crypto';
import type { BoundClaim, Pod, SeLinuxOptions, Volume, VolumeLifecycleMode } from '@podwright/kube-api';

/** The directory of block volumes, beside those of drivers. */
export const BLOCK_VOLUMES = 'volumeDevices';
/** Name in directories and messages. */
export const CSI_PLUGIN = 'kubernetes.io/csi';

export type SecretPlace = { namespace: string; name: string };

/** One volume of a CSI driver for a pod: one that it makes for the pod alone, or a persistent one. */
export type CsiVolume = {
  /** Name of the volume's directory, and in messages: the pod's name of it, or that of the PersistentVolume. */
  name: string;
  /** The pod's name of a PersistentVolume. */
  nameInPod?: string;
  driver: string;
  /** How the driver knows it. */
  handle: string;
  mode: VolumeLifecycleMode;
  readOnly: boolean;
  fsType: string;
  attributes: Record<string, string>;
  mountOptions: string[];
  /** Of a PersistentVolume, in its order. */
  accessModes: string[];
  publishSecret?: SecretPlace;
  stageSecret?: SecretPlace;
  expandSecret?: SecretPlace;
  /** It is a device, without a file system. */
  isBlock?: boolean;
  /** Its claim, and the size that its PersistentVolume has. */
  bound?: { claim: BoundClaim; size: string };
  /** What the containers that mount it ask for of SELinux, and the label that all its files are to have. */
  labels?: SeLinuxOptions[];
  label?: string;
};

/** The volume that a pod describes itself. */
export function inlineVolume({ metadata }: Pod, { name, csi }: Volume): CsiVolume {
  const { driver, readOnly = false, fsType = '', volumeAttributes = {}, nodePublishSecretRef } = csi!;
  const secret = nodePublishSecretRef?.name;
  return {
    name,
    driver,
    handle: `csi-${sha256(`${metadata.uid}${name}`)}`,
    mode: 'Ephemeral',
    readOnly,
    fsType,
    attributes: volumeAttributes,
    mountOptions: [],
    accessModes: [],
    ...(secret === undefined ? {} : { publishSecret: { namespace: metadata.namespace, name: secret } }),
  };
}

/** Name of the VolumeAttachment by which a volume is attached to a node. */
export function attachmentName({ handle, driver }: Pick<CsiVolume, 'handle' | 'driver'>, nodeName: string): string {
  return `csi-${sha256(`${handle}${driver}${nodeName}`)}`;
}

/** Upstream's name of a volume in the status of a node. */
export function uniqueVolumeName({ driver, handle }: Pick<CsiVolume, 'handle' | 'driver'>): string {
  return `${CSI_PLUGIN}/${driver}^${handle}`;
}

/** The volume of such a name. */
export function namedVolume(uniqueName: string): Pick<CsiVolume, 'handle' | 'driver'> {
  const volume = uniqueName.slice(CSI_PLUGIN.length + 1);
  const at = volume.indexOf('^');
  return { driver: volume.slice(0, at), handle: volume.slice(at + 1) };
}

/** Upstream's name of a driver's volumes in metrics. */
export function metricName({ driver }: Pick<CsiVolume, 'driver'>): string {
  return `${CSI_PLUGIN}:${driver}`;
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
