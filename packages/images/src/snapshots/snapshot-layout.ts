import { join } from 'node:path';
import type { Mount } from '@podwright/system';
import type { SnapshotKind } from './snapshotter.ts';

/** A snapshot's directory and those of its ancestors, nearest first. */
export type SnapshotDirectories = { kind: SnapshotKind; directory: string; parents: string[] };

/** Defines how layers are stored in directories. The records and the order of operations are the same for all layouts. */
export interface SnapshotLayout {
  readonly name: string;
  /** Whether a layer's directory contains only that layer, with overlayfs whiteouts for the files it deletes. */
  readonly isLayered: boolean;
  /** Fills the new, empty directory of an active snapshot or a view. On failure, the caller removes the directory. */
  create(directories: SnapshotDirectories): Promise<void>;
  /** Returns the mounts of an active snapshot or a view. */
  mounts(directories: SnapshotDirectories): Mount[];
}

/** Returns the directory that contains a snapshot's own files. */
export function filesIn(directory: string): string {
  return join(directory, 'fs');
}

/** Returns overlayfs's workdir, which must be on the same file system as the upper directory. */
export function workIn(directory: string): string {
  return join(directory, 'work');
}

export function bindMount(directory: string, readOnly: boolean): Mount[] {
  return [{ type: 'bind', source: directory, options: [readOnly ? 'ro' : 'rw', 'rbind'] }];
}
