import type { Pod } from '@podwright/kube-api';
import type { VolumeFailure } from './volume-failure.ts';

/** The host path of each of a pod's volumes, by volume name. */
export type VolumePaths = ReadonlyMap<string, string>;

/** The paths of a pod's usable volumes, and the errors of those that are unusable or outdated. */
export type MountedVolumes = {
  paths: VolumePaths;
  /** Each failure has a user-facing message, such as `MountVolume.SetUp failed for volume "conf" : configmap "web" not found`. */
  failures: Pick<VolumeFailure, 'reason' | 'message'>[];
  /** Whether every volume that containers mount is usable. */
  complete: boolean;
};

/** The volume operations used by pod workers. Calls for the same pod may overlap; they run sequentially. */
export interface PodVolumes {
  /**
   * Creates every volume that one of the pod's containers uses, and returns the paths. May be called at any time, as each sync does:
   * existing mounts are kept, and changed content is updated. A volume that cannot be updated keeps its content.
   */
  mountForPod(pod: Pod, signal: AbortSignal): Promise<MountedVolumes>;

  /** Returns the paths that the last `mountForPod` returned; empty before the first call. */
  pathsOf(podUid: string): VolumePaths;

  /**
   * Returns the host path for one `subPath` of a mounted volume, safe from symlinks that containers create. The path exists until
   * `unmountForPod`; each call renews it.
   */
  prepareSubPath(request: SubPathRequest, signal: AbortSignal): Promise<string>;

  /** Unmounts and removes all of the pod's volumes and their subpaths. May be called repeatedly, and does not need the pod object. */
  unmountForPod(podUid: string): Promise<void>;

  /** Removes all of the pod's files: volumes, hosts file and termination messages. May be called repeatedly. */
  removeForPod(podUid: string): Promise<void>;

  /** Removes all files of unknown pods, and returns the UIDs of those pods. `isKnown` is called just before each removal. */
  removeOrphans(isKnown: (podUid: string) => boolean): Promise<string[]>;

  /** Waits until removed directory trees have been deleted. Removing a tree only moves it to the trash. */
  close(): Promise<void>;
}

export type SubPathRequest = {
  podUid: string;
  containerName: string;
  volumeName: string;
  /** The volume's host path, as returned by `mountForPod`. */
  volumePath: string;
  /** A relative path without `..`, with variables expanded. */
  subPath: string;
  /** Position in the container's `volumeMounts`. Makes the path unique. */
  index: number;
};
