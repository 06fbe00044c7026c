import type { Mount } from '@podwright/system';

/** `active` is writable, `committed` is an immutable layer on which others can be built, `view` is read-only. */
export type SnapshotKind = 'active' | 'committed' | 'view';

/** Information about a snapshot. `parent` is the key of a committed snapshot, or '' if there is none. */
export type SnapshotInfo = { key: string; kind: SnapshotKind; parent: string; createdAtMs: number };

/** Disk usage of a snapshot, excluding its parents. */
export type SnapshotUsage = { sizeBytes: number; inodes: number };

/** Where to unpack the layer of an active snapshot. The fields are options of `unpackLayer`. */
export type UnpackTarget = {
  directory: string;
  /**
   * Whether to convert the layer's whiteouts to overlayfs whiteouts. If false, `directory` is a full copy, and whiteouts delete files from
   * it.
   */
  overlayWhiteouts: boolean;
  /** Directories of the lower layers, topmost first; empty if `directory` is a full copy. */
  parentDirectories: string[];
};

/**
 * Stores file trees as layers. An image layer is prepared under a temporary key on top of its parent, filled, and committed under its chain
 * ID; a container's root file system is prepared on top of the image's top chain ID.
 *
 * Invariants: a committed snapshot never changes; a snapshot with children cannot be removed; after a crash, a snapshot is either complete
 * or absent (leftovers are removed when the snapshotter is opened). The snapshotter does not mount anything: it returns mounts for the
 * caller to mount and unmount. Errors: `not_found`, `already_exists`, `failed_precondition` (has children, wrong kind), `invalid_argument`.
 */
export interface Snapshotter {
  readonly name: string;
  /** A directory on the file system of the snapshots, for statistics. Default: the root directory of the store. */
  readonly directory?: string;
  prepare(key: string, parent: string): Promise<Mount[]>;
  view(key: string, parent: string): Promise<Mount[]>;
  /** Turns the active snapshot `key` into the committed snapshot `name`. */
  commit(name: string, key: string): Promise<void>;
  mounts(key: string): Promise<Mount[]>;
  stat(key: string): Promise<SnapshotInfo>;
  usage(key: string): Promise<SnapshotUsage>;
  remove(key: string): Promise<void>;
  list(): Promise<SnapshotInfo[]>;
  /** Returns the directory with the layer's own files. An active snapshot's layer is unpacked there. */
  layerDirectory(key: string): Promise<string>;
  /** Returns where to unpack a layer of the active snapshot `key`, and how to apply the layer's whiteouts. */
  unpackTarget(key: string): Promise<UnpackTarget>;
  /** Stops background work (the deletion of removed snapshots), which resumes when the snapshotter is opened again. */
  close(): Promise<void>;
}
