import type { Pod } from '@podwright/kube-api';
import type { VolumeFailure } from './volume-failure.ts';

/** Host path of each volume of a pod, by the volume's name. */
export type VolumePaths = ReadonlyMap<string, string>;

/** Where the volumes are that a pod can use, and what is wrong with those that it cannot, or that are as they were before. */
export type MountedVolumes = {
  paths: VolumePaths;
  /** Each with a message for people, such as `MountVolume.SetUp failed for volume "conf" : configmap "web" not found`. */
  failures: Pick<VolumeFailure, 'reason' | 'message'>[];
  /** Every volume that containers mount can be used. */
  complete: boolean;
};

/** What the pod workers ask of the volumes. Calls for one pod may overlap; they run one after the other. */
export interface PodVolumes {
  /**
   * Brings every volume that a container of the pod uses to its place and returns where. May be called again at any time (each sync
   * does): what is mounted stays and changed content is brought up to date. A volume that was there before and cannot be
   * brought up to date stays as it was.
   */
  mountForPod(pod: Pod, signal: AbortSignal): Promise<MountedVolumes>;

  /** What the last `mountForPod` returned; empty before it. */
  pathsOf(podUid: string): VolumePaths;

  /**
   * Host path for one `subPath` of a mounted volume, safe against symbolic links that containers make. Stays until
   * `unmountForPod`, and is renewed when it is asked for again.
   */
  prepareSubPath(request: SubPathRequest, signal: AbortSignal): Promise<string>;

  /** Unmounts and removes all volumes of the pod and its subpaths. May be repeated; needs no pod object. */
  unmountForPod(podUid: string): Promise<void>;

  /** Removes everything that the node keeps for the pod, volumes, hosts file and messages. May be repeated. */
  removeForPod(podUid: string): Promise<void>;

  /** Removes everything of pods that nobody knows any more, each asked for just before; returns their UIDs. */
  removeOrphans(isKnown: (podUid: string) => boolean): Promise<string[]>;

  /** Ends what goes on in the background: removed trees leave their places at once and are deleted afterwards. */
  close(): Promise<void>;
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
