import { CSI_PLUGIN, type Volume } from '@podwright/kube-api';
import type { VolumePlugin, VolumeRequest } from '../volumes/plugin.ts';
import type { CsiBlockVolumes } from './csi-block-volumes.ts';
import { inlineVolume, metricName } from './csi-volume.ts';
import type { CsiVolumes } from './csi-volumes.ts';

/** `csi`: inline CSI volumes. Also tears down all CSI volumes, including PersistentVolumes. */
export class CsiPlugin implements VolumePlugin {
  readonly name = CSI_PLUGIN;
  readonly #volumes: CsiVolumes;
  readonly #blockVolumes: CsiBlockVolumes;

  constructor(volumes: CsiVolumes, blockVolumes: CsiBlockVolumes) {
    this.#volumes = volumes;
    this.#blockVolumes = blockVolumes;
  }

  supports(volume: Volume): boolean {
    return volume.csi !== undefined;
  }

  setUp({ pod, volume, countAs }: VolumeRequest, signal: AbortSignal): Promise<string> {
    countAs?.({ plugin: metricName(volume.csi!), name: 'volume_mount' });
    return this.#volumes.setUp(pod, inlineVolume(pod, volume), signal);
  }

  existingPath({ pod, volume }: VolumeRequest): Promise<string | undefined> {
    return this.#volumes.existingPath(pod, inlineVolume(pod, volume));
  }

  tearDown(podUid: string): Promise<void> {
    return this.#volumes.tearDown(podUid);
  }

  unmapDevices(podUid: string): Promise<void> {
    return this.#blockVolumes.tearDown(podUid);
  }

  async removeUnused(): Promise<void> {
    await Promise.all([this.#volumes.removeUnused(), this.#blockVolumes.removeUnused()]);
  }
}
