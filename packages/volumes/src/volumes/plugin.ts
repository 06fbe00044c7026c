import type { Pod, Volume } from '@podwright/kube-api';
import type { StorageOperation } from './storage-metrics.ts';

/** One volume of a pod, and the directory that its plugin may use for it. */
export type VolumeRequest = {
  pod: Pod;
  volume: Volume;
  /** `<rootDir>/pods/<uid>/volumes/<plugin>/<name>`. Its parent exists; the directory itself may not. */
  directory: string;
  /** Additional mount(8) options from a PersistentVolume. */
  mountOptions?: string[];
  /** Called with the operation to record in metrics, if that is not `volume_mount` of this plugin. */
  countAs?: (operation: StorageOperation) => void;
};

/**
 * One kind of volume. The volume manager removes everything that a plugin mounts or writes at or below `request.directory`; a plugin
 * without `tearDown` must not create anything elsewhere.
 */
export interface VolumePlugin {
  /** The name from which the kubelet derives directory names, such as `kubernetes.io/empty-dir`. */
  readonly name: string;
  supports(volume: Volume): boolean;
  /**
   * Creates or updates the volume and returns its host path. Each sync calls it again, also after a restart; existing mounts stay. Rejects
   * with a message for users.
   */
  setUp(request: VolumeRequest, signal: AbortSignal): Promise<string>;
  /** The path that an earlier `setUp` returned, for use when the volume cannot be updated now; undefined if there is none. */
  existingPath?(request: VolumeRequest): Promise<string | undefined>;
  /**
   * Removes resources that the volume manager cannot remove. Called before the volume manager removes the plugin's directory of a pod; if
   * this rejects, that directory stays. May be repeated.
   */
  tearDown?(podUid: string): Promise<void>;
  /** Like `tearDown`, for the pod's block devices; also removes the links. */
  unmapDevices?(podUid: string): Promise<void>;
  /** Removes resources that no pod needs any more, such as leftovers of a killed kubelet. */
  removeUnused?(): Promise<void>;
}
