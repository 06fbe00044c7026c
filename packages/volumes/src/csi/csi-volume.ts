import { createHash } from 'node:crypto';
import {
  type BoundClaim,
  CSI_PLUGIN,
  type CsiVolumeId,
  type Pod,
  type SeLinuxOptions,
  type Volume,
  type VolumeLifecycleMode,
} from '@podwright/kube-api';

/** Name of the directory with the block volumes, which is next to the drivers' directories in `plugins/kubernetes.io/csi`. */
export const BLOCK_VOLUMES = 'volumeDevices';

export type SecretReference = { namespace: string; name: string };

/** A CSI volume of a pod: inline (ephemeral) or persistent. */
export type CsiVolume = {
  /**
   * Name used in messages and for the volume's directory: for an inline volume, its name in the pod spec, otherwise the PersistentVolume's
   * name.
   */
  name: string;
  /** For a PersistentVolume: the volume's name in the pod spec. */
  nameInPod?: string;
  driver: string;
  /** The driver's volume ID (`volume_handle`). */
  handle: string;
  mode: VolumeLifecycleMode;
  readOnly: boolean;
  fsType: string;
  attributes: Record<string, string>;
  mountOptions: string[];
  /** The PersistentVolume's access modes, in the order of its spec. */
  accessModes: string[];
  publishSecret?: SecretReference;
  stageSecret?: SecretReference;
  expandSecret?: SecretReference;
  /** Whether this is a raw block volume without a file system. */
  isBlock?: boolean;
  /** For a PersistentVolume: the claim bound to it, and its size. */
  bound?: { claim: BoundClaim; size: string };
  /** `labels`: SELinux options of the containers that mount the volume. `label`: the SELinux label given to all files in the volume. */
  labels?: SeLinuxOptions[];
  label?: string;
};

/** Returns a pod's inline volume. */
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

/** Parses a unique name created by `uniqueVolumeName`. */
export function namedVolume(uniqueName: string): CsiVolumeId {
  const volume = uniqueName.slice(CSI_PLUGIN.length + 1);
  const at = volume.indexOf('^');
  return { driver: volume.slice(0, at), handle: volume.slice(at + 1) };
}

/** Returns upstream's plugin name for a driver in volume metrics. */
export function metricName({ driver }: Pick<CsiVolume, 'driver'>): string {
  return `${CSI_PLUGIN}:${driver}`;
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
