import type { Pod } from '@podwright/kube-api';
import type { VolumeFailure } from './volume-failure.ts';

/** The host path of each of a pod's volumes, by volume name. */
export type VolumePaths = ReadonlyMap<string, string>;

/** The paths of a pod's usable volumes, and the errors for those that are unusable or outdated. */
export type MountedVolumes = {
  paths: VolumePaths;
  /** Failures with user-facing messages, such as `MountVolume.SetUp failed for volume "conf" : configmap "web" not found`. */
  failures: Pick<VolumeFailure, 'reason' | 'message'>[];
  /** Whether every volume mounted by containers is usable. */
  complete: boolean;
};

/** The volume operations used by pod workers. Calls for the same pod may overlap, but are run one at a time. */
export interface PodVolumes {
  /**
   * Creates all volumes used by the pod's containers, and returns their paths. May be called at any time, as on every sync: existing mounts
   * are left in place, and changed content is updated. A volume that cannot be updated retains its content.
   */
  mountForPod(pod: Pod, signal: AbortSignal): Promise<MountedVolumes>;

  /** Returns the paths returned by the last `mountForPod`; empty before the first call. */
  pathsOf(podUid: string): VolumePaths;

  /**
   * Returns the host path for a `subPath` of a mounted volume, safe from symlinks created by containers. The path is valid until
   * `unmountForPod`; each call renews it.
   */
  prepareSubPath(request: SubPathRequest, signal: AbortSignal): Promise<string>;

  /** Unmounts and removes all of the pod's volumes and subpaths. Idempotent, and does not require the Pod object. */
  unmountForPod(podUid: string): Promise<void>;

  /** Removes all of the pod's files: volumes, hosts file and termination messages. Idempotent. */
  removeForPod(podUid: string): Promise<void>;

  /** Removes all files of unknown pods, and returns the UIDs of these pods. `isKnown` is called right before each removal. */
  removeOrphans(isKnown: (podUid: string) => boolean): Promise<string[]>;

  /** Waits until removed directory trees have been deleted. Removing one only moves it to the trash. */
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
  /** Index within the container's `volumeMounts`, which makes the path unique. */
  index: number;
};
