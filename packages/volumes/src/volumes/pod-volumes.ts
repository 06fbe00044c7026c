import type { Pod } from '@podwright/kube-api';
import type { VolumeFailure } from './volume-failure.ts';

/** Host path of each volume of a pod, by the volume's name. */
export type VolumePaths = ReadonlyMap<string, string>;

/** The paths of a pod's usable volumes, and the errors of volumes that are unusable or outdated. */
export type MountedVolumes = {
  paths: VolumePaths;
  /** Each with a message for users, such as `MountVolume.SetUp failed for volume "conf" : configmap "web" not found`. */
  failures: Pick<VolumeFailure, 'reason' | 'message'>[];
  /** Whether every volume that containers mount is usable. */
  complete: boolean;
};

/** The volume operations of pod workers. Calls for one pod may overlap; they run one after another. */
export interface PodVolumes {
  /**
   * Creates every volume that a container of the pod uses, and returns the paths. May be called at any time, as each sync does: mounts
   * stay, and changed content is updated. A volume that cannot be updated keeps its content.
   */
  mountForPod(pod: Pod, signal: AbortSignal): Promise<MountedVolumes>;

  /** The paths that the last `mountForPod` returned; empty before the first call. */
  pathsOf(podUid: string): VolumePaths;

  /**
   * Returns the host path for one `subPath` of a mounted volume, safe against symlinks that containers create. It stays until
   * `unmountForPod`; each call renews it.
   */
  prepareSubPath(request: SubPathRequest, signal: AbortSignal): Promise<string>;

  /** Unmounts and removes all volumes of the pod and its subpaths. May be repeated; needs no pod object. */
  unmountForPod(podUid: string): Promise<void>;

  /** Removes all files of the pod: volumes, hosts file and termination messages. May be repeated. */
  removeForPod(podUid: string): Promise<void>;

  /** Removes all files of unknown pods; `isKnown` is called just before each removal. Returns their UIDs. */
  removeOrphans(isKnown: (podUid: string) => boolean): Promise<string[]>;

  /** Waits until removed trees are deleted: removal itself only moves them to the trash. */
  close(): Promise<void>;
}

export type SubPathRequest = {
  podUid: string;
  containerName: string;
  volumeName: string;
  /** Host path of the volume, from `mountForPod`. */
  volumePath: string;
  /** Relative, without `..`, with variables expanded. */
  subPath: string;
  /** Position among the container's volumeMounts; makes the path unique. */
  index: number;
};
