import type { Mount } from '@podwright/system';

/** `active` is writable, `committed` is an immutable layer on which others can be built, `view` is read-only. */
export type SnapshotKind = 'active' | 'committed' | 'view';

/** Information on a snapshot. `parent` is the key of a committed snapshot, '' for none. */
export type SnapshotInfo = { key: string; kind: SnapshotKind; parent: string; createdAtMs: number };

/** Disk space of a snapshot without its parents. */
export type SnapshotUsage = { sizeBytes: number; inodes: number };

/** Where to unpack the layer of an active snapshot; the fields are options of `unpackLayer`. */
export type UnpackTarget = {
  directory: string;
  /**
   * Whether to turn whiteouts of the layer into overlay whiteouts. If not, `directory` is a full copy, from which whiteouts delete
   * files.
   */
  overlayWhiteouts: boolean;
  /** Directories of the layers below, topmost first; empty if `directory` is a full copy. */
  parentDirectories: string[];
};

/**
 * Stores file trees as layers. An image layer is prepared under a temporary key on its parent, filled, and committed
 * under its chain id; a container's root file system is prepared on the image's top chain id.
 *
 * Invariants: a committed snapshot never changes; a snapshot with children cannot be removed; after a crash a snapshot
 * is complete or absent (leftovers are removed when the snapshotter is opened). The snapshotter does not mount:
 * it returns mounts, which the caller mounts and unmounts.
 * Errors: `not_found`, `already_exists`, `failed_precondition` (has children, wrong kind), `invalid_argument`.
 */
export interface Snapshotter {
  readonly name: string;
  prepare(key: string, parent: string): Promise<Mount[]>;
  view(key: string, parent: string): Promise<Mount[]>;
  /** Turns the active snapshot `key` into the committed snapshot `name`. */
  commit(name: string, key: string): Promise<void>;
  mounts(key: string): Promise<Mount[]>;
  stat(key: string): Promise<SnapshotInfo>;
  usage(key: string): Promise<SnapshotUsage>;
  remove(key: string): Promise<void>;
  list(): Promise<SnapshotInfo[]>;
  /** The directory with the files of the layer itself, into which an active snapshot's layer is unpacked. */
  layerDirectory(key: string): Promise<string>;
  /** Where to unpack a layer into the active snapshot `key`, and how to apply its whiteouts. */
  unpackTarget(key: string): Promise<UnpackTarget>;
  /** Stops background work: the deletion of removed trees, which resumes when the snapshotter is opened again. */
  close(): Promise<void>;
}
