import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorMessage, POD_DIRECTORY } from '@podwright/base';
import type { PersistentVolume, Pod, Volume } from '../api/types.ts';
import { isStaticPod } from '../config/pod-update.ts';
import type { VolumePlugin, VolumeRequest } from './plugin.ts';
import type { PodDirectories } from './pod-directories.ts';
import { setUpFailure, VolumeFailure } from './volume-failure.ts';

/** A volume of the cluster for a pod; `volume` is that of the pod, `directory` the place for this kind and volume. */
export type PersistentVolumeRequest = VolumeRequest & { persistentVolume: PersistentVolume; readOnly: boolean };

/** A kind of PersistentVolumes. */
export interface PersistentVolumeKind {
  /** As in the kubelet's directory names, such as `kubernetes.io/nfs`. */
  readonly name: string;
  supports(persistentVolume: PersistentVolume): boolean;
  /** As a plugin's. Rejects with `VolumeFailure`, or with why the mount fails. */
  setUp(request: PersistentVolumeRequest, signal: AbortSignal): Promise<string>;
}

export type PersistentVolumesOptions = {
  kinds: PersistentVolumeKind[];
  directories: PodDirectories;
  /** The volume that the claim is bound to. Rejects with why the pod has to wait. */
  volumeOf(pod: Pod, claimName: string, signal: AbortSignal): Promise<PersistentVolume>;
  /** Whether the volume may be used on this node. */
  fitsNode(persistentVolume: PersistentVolume): boolean;
  /** For pods of manifests, whose claims are the node's own. */
  ofManifests: VolumePlugin;
};

/** `persistentVolumeClaim` of pods of a cluster: what the API server says that the claim is bound to. */
export class PersistentVolumesPlugin implements VolumePlugin {
  readonly name: string;
  readonly #options: PersistentVolumesOptions;

  constructor(options: PersistentVolumesOptions) {
    this.#options = options;
    this.name = options.ofManifests.name;
  }

  supports(volume: Volume): boolean {
    return volume.persistentVolumeClaim !== undefined;
  }

  async setUp(request: VolumeRequest, signal: AbortSignal): Promise<string> {
    const { pod, volume } = request;
    if (isStaticPod(pod)) return this.#options.ofManifests.setUp(request, signal);
    const { claimName, readOnly = false } = volume.persistentVolumeClaim!;
    const persistentVolume = await this.#options.volumeOf(pod, claimName, signal).catch((error: unknown) => {
      signal.throwIfAborted();
      throw unprocessed(volume, errorMessage(error));
    });
    const { name } = persistentVolume.metadata;
    const kind = this.#kindOf(persistentVolume, volume);
    const directory = this.#options.directories.volume(pod.metadata.uid, kind.name, name);
    await mkdir(dirname(directory), { recursive: true, mode: POD_DIRECTORY });
    try {
      return await kind.setUp({ pod, volume, directory, persistentVolume, readOnly }, signal);
    } catch (error) {
      signal.throwIfAborted();
      throw error instanceof VolumeFailure ? error : setUpFailure(name, errorMessage(error));
    }
  }

  #kindOf(persistentVolume: PersistentVolume, volume: Volume): PersistentVolumeKind {
    const { metadata, spec } = persistentVolume;
    const mode = spec.volumeMode ?? 'Filesystem';
    if (mode !== 'Filesystem')
      throw unprocessed(volume, `volume ${volume.name} has volumeMode ${mode}, but is specified in volumeMounts`);
    if (!this.#options.fitsNode(persistentVolume))
      throw new VolumeFailure(
        `MountVolume.NodeAffinity check failed for volume "${metadata.name}" : no matching NodeSelectorTerms`,
      );
    const kind = this.#options.kinds.find((one) => one.supports(persistentVolume));
    if (kind === undefined)
      throw unprocessed(
        volume,
        'no volume plugin matched: this node mounts volumes of the kinds csi, local, hostPath and nfs',
      );
    return kind;
  }
}

/** As upstream words what keeps a volume from being looked at. */
function unprocessed({ name }: Volume, why: string): VolumeFailure {
  const names = `unmounted volumes=[${name}], unattached volumes=[], failed to process volumes=[${name}]`;
  return new VolumeFailure(`Unable to attach or mount volumes: ${names}: ${why}`);
}
