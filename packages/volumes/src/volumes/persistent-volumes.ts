import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorMessage, POD_DIRECTORY } from '@podwright/base';
import {
  type BoundVolume,
  everyContainer,
  isStaticPod,
  type PersistentVolume,
  type Pod,
  type Volume,
} from '@podwright/kube-api';
import type { VolumePlugin, VolumeRequest } from './plugin.ts';
import type { PodDirectories } from './pod-directories.ts';
import { setUpFailure, VolumeFailure } from './volume-failure.ts';

/**
 * A PersistentVolume in the API server, requested by a pod. `volume` is the volume in the pod spec; `directory` is the path for this type
 * and volume.
 */
export type PersistentVolumeRequest = VolumeRequest & { bound: BoundVolume; readOnly: boolean };

/** A type of PersistentVolume, such as NFS. */
export interface PersistentVolumeKind {
  /** Plugin name, from which the kubelet derives directory names, such as `kubernetes.io/nfs`. */
  readonly name: string;
  supports(persistentVolume: PersistentVolume): boolean;
  /** Like `VolumePlugin.setUp`. Rejects with `VolumeFailure` or the error of the mount. */
  setUp(request: PersistentVolumeRequest, signal: AbortSignal): Promise<string>;
  /**
   * Maps a block device for the pod, and returns the path of the pod's symlink to it. Undefined for types that do not support block
   * devices.
   */
  map?(request: PersistentVolumeRequest, signal: AbortSignal): Promise<string>;
  /** The plugin's name in metrics. Default: `name`. */
  metricName?(persistentVolume: PersistentVolume): string;
}

export type PersistentVolumesOptions = {
  kinds: PersistentVolumeKind[];
  directories: PodDirectories;
  /** Returns the volume that a claim is bound to. Rejects as long as the claim is not usable. */
  volumeOf(pod: Pod, claimName: string, signal: AbortSignal): Promise<BoundVolume>;
  /** Whether the volume's node affinity matches this node. */
  fitsNode(persistentVolume: PersistentVolume): boolean;
  /** Plugin for pods from manifests, whose claims are local to the node. */
  ofManifests: VolumePlugin;
  /** Unmaps the pod's node-local devices. */
  unmapDevices(podUid: string): Promise<void>;
};

/** `persistentVolumeClaim` of a cluster's pods: uses the PersistentVolume to which the claim is bound in the API server. */
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
    const bound = await this.#options.volumeOf(pod, claimName, signal).catch((error: unknown) => {
      signal.throwIfAborted();
      throw unprocessed(volume, errorMessage(error));
    });
    const use = { pod, volume, bound, readOnly };
    const isBlock = modeFor(use) === 'Block';
    const kind = this.#kindFor(bound.volume, volume, isBlock);
    const plugin = kind.metricName?.(bound.volume) ?? kind.name;
    request.countAs?.({ plugin, name: isBlock ? 'map_volume' : 'volume_mount' });
    const { name } = bound.volume.metadata;
    const directory = this.#options.directories.volume(pod.metadata.uid, kind.name, name);
    if (isBlock) return kind.map!({ ...use, directory }, signal);
    await mkdir(dirname(directory), { recursive: true, mode: POD_DIRECTORY });
    try {
      return await kind.setUp({ ...use, directory }, signal);
    } catch (error) {
      signal.throwIfAborted();
      throw error instanceof VolumeFailure ? error : setUpFailure(name, errorMessage(error));
    }
  }

  unmapDevices(podUid: string): Promise<void> {
    return this.#options.unmapDevices(podUid);
  }

  #kindFor(persistentVolume: PersistentVolume, volume: Volume, isBlock: boolean): PersistentVolumeKind {
    const operation = isBlock ? 'MapVolume' : 'MountVolume';
    if (!this.#options.fitsNode(persistentVolume))
      throw new VolumeFailure(
        `${operation}.NodeAffinity check failed for volume "${persistentVolume.metadata.name}" : no matching NodeSelectorTerms`,
      );
    const kind = this.#options.kinds.find((one) => one.supports(persistentVolume));
    if (kind === undefined)
      throw unprocessed(
        volume,
        'no volume plugin matched: this node mounts volumes of the kinds csi, local, hostPath and nfs',
      );
    if (isBlock && kind.map === undefined)
      throw unprocessed(volume, `volumes of the plugin ${kind.name} are no block devices: use one of csi or local`);
    return kind;
  }
}

/** Returns the volume's volumeMode. Throws if any of the pod's containers use the volume in the other mode. */
function modeFor({ pod, volume: { name }, bound }: Pick<PersistentVolumeRequest, 'pod' | 'volume' | 'bound'>): string {
  const mode = bound.volume.spec.volumeMode ?? 'Filesystem';
  const containers = everyContainer(pod.spec);
  for (const [field, wanted] of [
    ['volumeMounts', 'Filesystem'],
    ['volumeDevices', 'Block'],
  ] as const) {
    const isUsed = containers.some((container) => container[field]?.some((one) => one.name === name));
    if (isUsed && mode !== wanted)
      throw unprocessed({ name }, `volume ${name} has volumeMode ${mode}, but is specified in ${field}`);
  }
  return mode;
}

/** Returns upstream's message for a volume that cannot be processed. */
function unprocessed({ name }: Volume, why: string): VolumeFailure {
  const names = `unmounted volumes=[${name}], unattached volumes=[], failed to process volumes=[${name}]`;
  return new VolumeFailure(`Unable to attach or mount volumes: ${names}: ${why}`).untried();
}
