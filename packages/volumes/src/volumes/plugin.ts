import type { Pod, Volume } from '@podwright/kube-api';
import type { StorageOperation } from './storage-metrics.ts';

/** One volume of a pod, and the directory that its plugin may use for it. */
export type VolumeRequest = {
  pod: Pod;
  volume: Volume;
  /** `<rootDir>/pods/<uid>/volumes/<plugin>/<name>`; its parent exists, it may not. */
  directory: string;
  /** Further options of mount(8), of a PersistentVolume. */
  mountOptions?: string[];
  /** Called with how metrics are to name what is done, where it is not the plugin that mounts. */
  countAs?: (operation: StorageOperation) => void;
};

/**
 * One kind of volume. What a plugin mounts or writes at or below `request.directory` is removed by the volume manager;
 * a plugin without `tearDown` must not make anything else.
 */
export interface VolumePlugin {
  /** As in the kubelet's directory names, such as `kubernetes.io/empty-dir`. */
  readonly name: string;
  supports(volume: Volume): boolean;
  /**
   * Makes the volume, or brings it up to date, and returns its host path. Called again after each sync and after a restart:
   * what is there already stays. Rejects with what is missing, in a message for users.
   */
  setUp(request: VolumeRequest, signal: AbortSignal): Promise<string>;
  /** The host path of what an earlier `setUp` made, though it could not be brought up to date now. */
  madeBefore?(request: VolumeRequest): Promise<string | undefined>;
  /**
   * Takes away what the volume manager cannot: called before it removes the plugin's directory of a pod, which it keeps if this
   * rejects. May be repeated.
   */
  tearDown?(podUid: string): Promise<void>;
  /** The same of the pod's block devices, of which it removes the links as well. */
  unmapDevices?(podUid: string): Promise<void>;
  /** Takes away what no pod needs any more, such as what a kubelet left that was killed. */
  removeUnused?(): Promise<void>;
}
