/** Names of CSI volumes that are attached to nodes, as upstream's CSI plugin forms them (pkg/volume/csi). */
import { createHash } from 'node:crypto';

const CSI_PLUGIN = 'kubernetes.io/csi';

export type AttachableVolume = { driver: string; handle: string };

/** Returns the name of the VolumeAttachment that attaches a volume to a node. */
export function attachmentName({ driver, handle }: AttachableVolume, node: string): string {
  return `csi-${createHash('sha256').update(`${handle}${driver}${node}`).digest('hex')}`;
}

/** Returns the volume's name in the status of nodes. */
export function uniqueVolumeName({ driver, handle }: AttachableVolume): string {
  return `${CSI_PLUGIN}/${driver}^${handle}`;
}

/** The inverse of `uniqueVolumeName`; undefined for a volume of another plugin. */
export function namedVolume(name: string): AttachableVolume | undefined {
  const [, driver, handle] = /^kubernetes\.io\/csi\/([^^]+)\^(.*)$/s.exec(name) ?? [];
  return driver === undefined || handle === undefined ? undefined : { driver, handle };
}
