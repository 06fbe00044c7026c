import { createHash } from 'node:crypto';
import type { BoundClaim, Pod, SeLinuxOptions, Volume, VolumeLifecycleMode } from '@podwright/kube-api';

/** The directory of block volumes, next to the directories of drivers. */
export const BLOCK_VOLUMES = 'volumeDevices';
/** Name of the plugin in paths and messages. */
export const CSI_PLUGIN = 'kubernetes.io/csi';

export type SecretReference = { namespace: string; name: string };

/** One volume of a CSI driver for a pod: an inline (ephemeral) or a persistent one. */
export type CsiVolume = {
  /** Name of the volume's directory, also in messages: the volume's name in the pod, or the PersistentVolume's name. */
  name: string;
  /** A PersistentVolume's name in the pod. */
  nameInPod?: string;
  driver: string;
  /** The driver's volume ID (`volume_handle`). */
  handle: string;
  mode: VolumeLifecycleMode;
  readOnly: boolean;
  fsType: string;
  attributes: Record<string, string>;
  mountOptions: string[];
  /** Access modes of a PersistentVolume, in its order. */
  accessModes: string[];
  publishSecret?: SecretReference;
  stageSecret?: SecretReference;
  expandSecret?: SecretReference;
  /** Whether it is a block device without a file system. */
  isBlock?: boolean;
  /** The claim of a PersistentVolume, and the PersistentVolume's size. */
  bound?: { claim: BoundClaim; size: string };
  /** `labels`: SELinux options of the containers that mount the volume; `label`: the label that all its files get. */
  labels?: SeLinuxOptions[];
  label?: string;
};

/** The inline volume of a pod. */
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

/** Name of the VolumeAttachment that attaches a volume to a node. */
export function attachmentName({ handle, driver }: Pick<CsiVolume, 'handle' | 'driver'>, nodeName: string): string {
  return `csi-${sha256(`${handle}${driver}${nodeName}`)}`;
}

/** The volume's unique name in the node's status, as upstream writes it. */
export function uniqueVolumeName({ driver, handle }: Pick<CsiVolume, 'handle' | 'driver'>): string {
  return `${CSI_PLUGIN}/${driver}^${handle}`;
}

/** The volume with such a unique name. */
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
