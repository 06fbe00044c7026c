import type { Volume } from '../api/types.ts';
import type { VolumePlugin, VolumeRequest } from '../volumes/plugin.ts';
import { CSI_PLUGIN, inlineVolume } from './csi-volume.ts';
import type { CsiVolumes } from './csi-volumes.ts';

/** `csi`: volumes that drivers make for one pod; and the end of all volumes of drivers. */
export class CsiPlugin implements VolumePlugin {
  readonly name = CSI_PLUGIN;
  readonly #volumes: CsiVolumes;

  constructor(volumes: CsiVolumes) {
    this.#volumes = volumes;
  }

  supports(volume: Volume): boolean {
    return volume.csi !== undefined;
  }

  setUp({ pod, volume }: VolumeRequest, signal: AbortSignal): Promise<string> {
    return this.#volumes.setUp(pod, inlineVolume(pod, volume), signal);
  }

  madeBefore({ pod, volume }: VolumeRequest): Promise<string | undefined> {
    return this.#volumes.madeBefore(pod, inlineVolume(pod, volume));
  }

  tearDown(podUid: string): Promise<void> {
    return this.#volumes.tearDown(podUid);
  }

  removeUnused(): Promise<void> {
    return this.#volumes.removeUnused();
  }
}
