import type { Pod, Volume } from '@podwright/kube-api';
import type { StorageOperation } from './storage-metrics.ts';

/** One volume of a pod, and the directory that its plugin may use for it. */
export type VolumeRequest = {
  pod: Pod;
  volume: Volume;
  /** `<rootDir>/pods/<uid>/volumes/<plugin>/<name>`; its parent exists, it may not. */
  directory: string;
  /** Additional mount(8) options, of a PersistentVolume. */
  mountOptions?: string[];
  /** Called with the operation's name in metrics, if the mounting plugin is not this one. */
  countAs?: (operation: StorageOperation) => void;
};

/**
 * One kind of volume. The volume manager removes everything that a plugin mounts or writes at or below `request.directory`; a plugin
 * without `tearDown` must not create anything elsewhere.
 */
export interface VolumePlugin {
  /** As in the kubelet's directory names, such as `kubernetes.io/empty-dir`. */
  readonly name: string;
  supports(volume: Volume): boolean;
  /**
   * Creates or updates the volume, and returns its host path. Called again in each sync and after a restart: existing mounts stay. Rejects
   * with a message for users.
   */
  setUp(request: VolumeRequest, signal: AbortSignal): Promise<string>;
  /** The host path of an earlier `setUp`'s result, if the volume could not be updated now. */
  existingPath?(request: VolumeRequest): Promise<string | undefined>;
  /**
   * Removes resources that the volume manager cannot remove. Called before it removes the plugin's directory of a pod, which
   * stays if this rejects. May be repeated.
   */
  tearDown?(podUid: string): Promise<void>;
  /** As `tearDown`, for the pod's block devices; removes the links as well. */
  unmapDevices?(podUid: string): Promise<void>;
  /** Removes resources that no pod needs any more, such as leftovers of a killed kubelet. */
  removeUnused?(): Promise<void>;
}
