import type { Pod } from '../api/types.ts';

/** Host path of each volume of a pod, by the volume's name. */
export type VolumePaths = Map<string, string>;

/** What the pod workers ask of the volumes. Calls for one pod come one at a time. */
export interface PodVolumes {
  /**
   * Brings every volume of the pod to its place and returns where. May be called again at any time (each sync does): what is
   * mounted stays and changed content is brought up to date. Rejects with `failed_precondition` naming the volume that is not
   * available yet (a missing ConfigMap, a wrong hostPath).
   */
  mountForPod(pod: Pod, signal: AbortSignal): Promise<VolumePaths>;

  /** Host path for one `subPath` of a mounted volume, safe against symbolic links; released by `releaseSubPaths`. */
  prepareSubPath(request: SubPathRequest, signal: AbortSignal): Promise<string>;

  /** Releases the subpath mounts of a pod's container, once it is stopped for good or before it is created anew. */
  releaseSubPaths(podUid: string, containerName: string): Promise<void>;

  /** Unmounts and removes all volumes of the pod and its subpaths. May be repeated; needs no pod object. */
  unmountForPod(podUid: string): Promise<void>;

  /** Removes the directories of pods that are not in `keep`, unmounting what is left in them; returns their UIDs. */
  removeOrphans(keep: ReadonlySet<string>): Promise<string[]>;
}

export type SubPathRequest = {
  podUid: string;
  containerName: string;
  volumeName: string;
  /** Host path of the volume, from `mountForPod`. */
  volumePath: string;
  /** Relative, without `..`, expanded already. */
  subPath: string;
  /** Position among the container's volumeMounts; makes the place unique. */
  index: number;
};
