import type { Pod, Volume } from '@podwright/kube-api';
import type { StorageOperation } from './storage-metrics.ts';

/** A pod's volume, and the directory that its plugin may use for it. */
export type VolumeRequest = {
  pod: Pod;
  volume: Volume;
  /** `<rootDir>/pods/<uid>/volumes/<plugin>/<name>`. The parent directory exists; the directory itself may not. */
  directory: string;
  /** Additional mount(8) options from a PersistentVolume. */
  mountOptions?: string[];
  /** Called with the operation to record in the metrics if it differs from this plugin's `volume_mount`. */
  countAs?: (operation: StorageOperation) => void;
};

/**
 * A type of volume. The volume manager removes everything that a plugin mounts or writes at or below `request.directory`. A plugin without
 * `tearDown` must not create anything elsewhere.
 */
export interface VolumePlugin {
  /** The name from which the kubelet derives directory names, such as `kubernetes.io/empty-dir`. */
  readonly name: string;
  supports(volume: Volume): boolean;
  /**
   * Creates or updates the volume and returns its host path. Called again for each sync, and after a restart; existing mounts are kept.
   * Rejects with a user-facing message.
   */
  setUp(request: VolumeRequest, signal: AbortSignal): Promise<string>;
  /** Returns the path that an earlier `setUp` returned, for use while the volume cannot be updated; undefined if there is none. */
  existingPath?(request: VolumeRequest): Promise<string | undefined>;
  /**
   * Removes resources that the volume manager cannot remove. Called before the volume manager removes the plugin's directory for a pod; if
   * this rejects, the directory is kept. May be called repeatedly.
   */
  tearDown?(podUid: string): Promise<void>;
  /** Like `tearDown`, but for the pod's block devices. Also removes the symlinks to them. */
  unmapDevices?(podUid: string): Promise<void>;
  /** Removes resources that no pod needs any more, such as the leftovers of a killed kubelet. */
  removeUnused?(): Promise<void>;
}
