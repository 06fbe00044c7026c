import { chmodSync, chownSync, mkdirSync, statSync } from 'node:fs';
import { CONTAINER_DIRECTORY, PRIVATE_DIRECTORY } from '@podwright/base';
import type { Mount } from '@podwright/system';
import { bindMount, filesIn, type SnapshotFolders, type SnapshotLayout, workIn } from './snapshot-layout.ts';

/** Each snapshot holds its own layer; overlayfs shows the stack. */
export class OverlayLayout implements SnapshotLayout {
  readonly name = 'overlayfs';
  readonly isLayered = true;
  readonly #options: string[];

  /** `options` are those that the probe found to work. */
  constructor(options: string[]) {
    this.#options = options;
  }

  async create({ kind, directory, parents }: SnapshotFolders): Promise<void> {
    const files = filesIn(directory);
    mkdirSync(files, { mode: CONTAINER_DIRECTORY });
    chmodSync(files, CONTAINER_DIRECTORY); // whatever the umask
    if (kind === 'active') mkdirSync(workIn(directory), { mode: PRIVATE_DIRECTORY });
    if (parents[0] === undefined) return;
    // the uppermost root folder is the one whose attributes show
    const { uid, gid, mode } = statSync(filesIn(parents[0]));
    chownSync(files, uid, gid);
    chmodSync(files, mode & 0o7777);
  }

  mounts({ kind, directory, parents }: SnapshotFolders): Mount[] {
    const lower = parents.map(filesIn);
    if (lower.length === 0) return bindMount(filesIn(directory), kind === 'view');
    if (kind === 'view' && lower.length === 1) return bindMount(lower[0]!, true);
    const lowerOption = `lowerdir=${lower.join(':')}`;
    const stable = this.#options.filter((option) => option !== 'volatile');
    if (kind === 'view') return [{ type: 'overlay', source: 'overlay', options: ['ro', ...stable, lowerOption] }];
    const upper = [`upperdir=${filesIn(directory)}`, `workdir=${workIn(directory)}`];
    return [{ type: 'overlay', source: 'overlay', options: [...this.#options, ...upper, lowerOption] }];
  }
}
