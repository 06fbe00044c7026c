import type { Mount } from '@podwright/system';

/** `active` is written to, `committed` is a finished layer that others build on, `view` is read-only. */
export type SnapshotKind = 'active' | 'committed' | 'view';

/** A snapshot's record. `parent` is the key of a committed snapshot, '' for none. */
export type SnapshotInfo = { key: string; kind: SnapshotKind; parent: string; createdAtMs: number };

/** Disk space that a snapshot itself takes, without its parents. */
export type SnapshotUsage = { sizeBytes: number; inodes: number };

/** Where an active snapshot's layer is unpacked, as options of `unpackLayer`. */
export type UnpackTarget = {
  directory: string;
  /** Deleted files become overlay whiteouts in `directory`; otherwise it is a full copy, and they are deleted. */
  overlayWhiteouts: boolean;
  /** Layer directories below it, the topmost first; none where `directory` is a full copy. */
  parentDirectories: string[];
};

/**
 * Keeps file trees as layers. An image layer is prepared under a temporary key on its parent, filled, and committed
 * under its chain id; a container's root file system is prepared on the image's top chain id.
 *
 * Invariants: a committed snapshot never changes; a snapshot with children cannot be removed; after a crash a key
 * is there whole or not at all (leftovers are removed when the snapshotter is opened). The snapshotter mounts
 * nothing: it returns mounts, the caller makes and takes them down.
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
  /** The directory whose content is the layer itself: what an active snapshot's layer is unpacked into. */
  layerDirectory(key: string): Promise<string>;
  /** How to unpack a layer into the active snapshot `key`. */
  unpackTarget(key: string): Promise<UnpackTarget>;
  /** Ends the work in the background (deletion of removed trees, finished when the snapshotter is opened again). */
  close(): Promise<void>;
}
