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

/** A volume of the cluster for a pod; `volume` is that of the pod, `directory` the place for this kind and volume. */
export type PersistentVolumeRequest = VolumeRequest & { bound: BoundVolume; readOnly: boolean };

/** A kind of PersistentVolumes. */
export interface PersistentVolumeKind {
  /** As in the kubelet's directory names, such as `kubernetes.io/nfs`. */
  readonly name: string;
  supports(persistentVolume: PersistentVolume): boolean;
  /** As a plugin's. Rejects with `VolumeFailure`, or with why the mount fails. */
  setUp(request: PersistentVolumeRequest, signal: AbortSignal): Promise<string>;
  /** Brings a block device to the pod, and returns the link to it. Absent where such volumes are never devices. */
  map?(request: PersistentVolumeRequest, signal: AbortSignal): Promise<string>;
  /** In metrics; its name unless given. */
  metricName?(persistentVolume: PersistentVolume): string;
}

export type PersistentVolumesOptions = {
  kinds: PersistentVolumeKind[];
  directories: PodDirectories;
  /** The volume that the claim is bound to. Rejects with why the pod has to wait. */
  volumeOf(pod: Pod, claimName: string, signal: AbortSignal): Promise<BoundVolume>;
  /** Whether the volume may be used on this node. */
  fitsNode(persistentVolume: PersistentVolume): boolean;
  /** For pods of manifests, whose claims are the node's own. */
  ofManifests: VolumePlugin;
  /** Takes devices of the node from pods. */
  unmapDevices(podUid: string): Promise<void>;
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

/** The volume's mode, which must be the one that the pod's containers use it with. */
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

/** As upstream words what keeps a volume from being looked at. */
function unprocessed({ name }: Volume, why: string): VolumeFailure {
  const names = `unmounted volumes=[${name}], unattached volumes=[], failed to process volumes=[${name}]`;
  return new VolumeFailure(`Unable to attach or mount volumes: ${names}: ${why}`).untried();
}
