import { join } from 'node:path';
import type { Mount } from '@podwright/system';
import type { SnapshotKind } from './snapshotter.ts';

/** A snapshot's directory and those of the snapshots below it, the nearest first. */
export type SnapshotDirectories = { kind: SnapshotKind; directory: string; parents: string[] };

/** What differs between ways to keep layers in directories. The records and the order of steps are the same for all. */
export interface SnapshotLayout {
  readonly name: string;
  /** True if a layer's directory holds that layer alone, with overlayfs's marks of what it deletes. */
  readonly isLayered: boolean;
  /** Fills the new, empty directory of an active snapshot or a view. On failure the caller removes it. */
  create(directories: SnapshotDirectories): Promise<void>;
  /** What mounts an active snapshot or a view. */
  mounts(directories: SnapshotDirectories): Mount[];
}

/** The directory with a snapshot's own files. */
export function filesIn(directory: string): string {
  return join(directory, 'fs');
}

/** overlayfs's directory for its own work, on the same file system. */
export function workIn(directory: string): string {
  return join(directory, 'work');
}

export function bindMount(directory: string, readOnly: boolean): Mount[] {
  return [{ type: 'bind', source: directory, options: [readOnly ? 'ro' : 'rw', 'rbind'] }];
}
