import type { CsiVolumeId } from '@podwright/kube-api';

/** Parses the unique name of a CSI volume (`uniqueVolumeName`); undefined for volumes of other plugins. */
export function namedVolume(name: string): CsiVolumeId | undefined {
  const [, driver, handle] = /^kubernetes\.io\/csi\/([^^]+)\^(.*)$/s.exec(name) ?? [];
  return driver === undefined || handle === undefined ? undefined : { driver, handle };
}
