import { mkdirSync } from 'node:fs';
import { CONTAINER_DIRECTORY } from '@podwright/base';
import type { Mount, System } from '@podwright/system';
import { TreeCopier } from './copy-tree.ts';
import { bindMount, filesIn, type SnapshotDirectories, type SnapshotLayout } from './snapshot-layout.ts';

/** Stores each snapshot as a full copy of its parent: slow and large, but correct on every file system. */
export class NativeLayout implements SnapshotLayout {
  readonly name = 'native';
  readonly isLayered = false;
  readonly #system: System;

  constructor(system: System) {
    this.#system = system;
  }

  async create({ kind, directory, parents }: SnapshotDirectories): Promise<void> {
    const [parent] = parents;
    // a view needs no copy: it mounts the parent's directory
    if (parent === undefined || kind === 'view') mkdirSync(filesIn(directory), { mode: CONTAINER_DIRECTORY });
    else await new TreeCopier(this.#system).copy(Buffer.from(filesIn(parent)), Buffer.from(filesIn(directory)));
  }

  mounts({ kind, directory, parents }: SnapshotDirectories): Mount[] {
    const isView = kind === 'view';
    return bindMount(filesIn(isView && parents[0] !== undefined ? parents[0] : directory), isView);
  }
}
