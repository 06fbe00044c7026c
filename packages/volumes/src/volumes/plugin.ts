import type { Pod, Volume } from '@podwright/kube-api';
import type { StorageOperation } from './storage-metrics.ts';

/** A pod's volume, and the directory for its plugin to use. */
export type VolumeRequest = {
  pod: Pod;
  volume: Volume;
  /** `<rootDir>/pods/<uid>/volumes/<plugin>/<name>`. Its parent directory exists, but it may not exist itself. */
  directory: string;
  /** Additional mount(8) options from a PersistentVolume. */
  mountOptions?: string[];
  /** Called with the operation to record in metrics if it is not this plugin's `volume_mount`. */
  countAs?: (operation: StorageOperation) => void;
};

/**
 * A type of volume. The volume manager removes everything that a plugin mounts or writes at or under `request.directory`. A plugin without
 * `tearDown` must not create anything elsewhere.
 */
export interface VolumePlugin {
  /** Plugin name, from which the kubelet derives directory names, such as `kubernetes.io/empty-dir`. */
  readonly name: string;
  supports(volume: Volume): boolean;
  /**
   * Creates or updates the volume, and returns its host path. Called again on every sync and after a restart; existing mounts are left in
   * place. Rejects with a user-facing message.
   */
  setUp(request: VolumeRequest, signal: AbortSignal): Promise<string>;
  /** Returns the path returned by an earlier `setUp`, for use while the volume cannot be updated; `undefined` if there is none. */
  existingPath?(request: VolumeRequest): Promise<string | undefined>;
  /**
   * Removes resources that the volume manager cannot remove. Called before the volume manager removes the plugin's directory for a pod; if
   * this rejects, the directory is left in place. Must be idempotent.
   */
  tearDown?(podUid: string): Promise<void>;
  /** Like `tearDown`, but for the pod's block devices and the symlinks to them. */
  unmapDevices?(podUid: string): Promise<void>;
  /** Removes resources no longer needed by any pod, such as leftovers of a killed kubelet. */
  removeUnused?(): Promise<void>;
}
