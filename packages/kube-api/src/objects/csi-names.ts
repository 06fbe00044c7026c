/** Names of CSI volumes on nodes, in the format of upstream's CSI plugin (pkg/volume/csi). */
import { createHash } from 'node:crypto';

/** The CSI plugin's name in paths, messages and volume names. */
export const CSI_PLUGIN = 'kubernetes.io/csi';

/** Identifies a volume by its driver and the driver's volume ID. */
export type CsiVolumeId = { driver: string; handle: string };

/** Returns the name of the VolumeAttachment for a volume on a node. */
export function attachmentName({ driver, handle }: CsiVolumeId, nodeName: string): string {
  return `csi-${createHash('sha256').update(`${handle}${driver}${nodeName}`).digest('hex')}`;
}

/** Returns the volume's unique name as used in the node's status, in upstream's format. */
export function uniqueVolumeName({ driver, handle }: CsiVolumeId): string {
  return `${CSI_PLUGIN}/${driver}^${handle}`;
}
