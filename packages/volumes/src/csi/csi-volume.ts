import { createHash } from 'node:crypto';
import type { BoundClaim, Pod, SeLinuxOptions, Volume, VolumeLifecycleMode } from '@podwright/kube-api';

/** The directory that holds block volumes, next to the directories of drivers. */
export const BLOCK_VOLUMES = 'volumeDevices';
/** Name of the plugin in paths and messages. */
export const CSI_PLUGIN = 'kubernetes.io/csi';

export type SecretReference = { namespace: string; name: string };

/** One volume of a CSI driver for a pod: inline (ephemeral) or persistent. */
export type CsiVolume = {
  /**
   * Name of the volume's directory and its name in messages: for an inline volume the pod's volume name, otherwise the PersistentVolume's
   * name.
   */
  name: string;
  /** For a PersistentVolume, the name of the volume in the pod's spec. */
  nameInPod?: string;
  driver: string;
  /** The driver's volume ID (`volume_handle`). */
  handle: string;
  mode: VolumeLifecycleMode;
  readOnly: boolean;
  fsType: string;
  attributes: Record<string, string>;
  mountOptions: string[];
  /** Access modes of the PersistentVolume, in the order of its spec. */
  accessModes: string[];
  publishSecret?: SecretReference;
  stageSecret?: SecretReference;
  expandSecret?: SecretReference;
  /** Whether it is a raw block device without a file system. */
  isBlock?: boolean;
  /** For a PersistentVolume: the claim bound to it, and its size. */
  bound?: { claim: BoundClaim; size: string };
  /** `labels`: SELinux options of the containers that mount the volume; `label`: the SELinux label that all its files get. */
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

/** The volume's unique name in the node's status, in upstream's format. */
export function uniqueVolumeName({ driver, handle }: Pick<CsiVolume, 'handle' | 'driver'>): string {
  return `${CSI_PLUGIN}/${driver}^${handle}`;
}

/** Parses such a unique name. */
export function namedVolume(uniqueName: string): Pick<CsiVolume, 'handle' | 'driver'> {
  const volume = uniqueName.slice(CSI_PLUGIN.length + 1);
  const at = volume.indexOf('^');
  return { driver: volume.slice(0, at), handle: volume.slice(at + 1) };
}

/** Upstream's plugin name for the volumes of a driver in metrics. */
export function metricName({ driver }: Pick<CsiVolume, 'driver'>): string {
  return `${CSI_PLUGIN}:${driver}`;
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
