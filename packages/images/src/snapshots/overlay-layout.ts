import { chmodSync, chownSync, lstatSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CONTAINER_DIRECTORY, errorMessage, isShortage, PRIVATE_DIRECTORY } from '@podwright/base';
import { type Mount, mountAll, type System, unmountTree } from '@podwright/system';
import { bindMount, filesIn, type SnapshotDirectories, type SnapshotLayout, workIn } from './snapshot-layout.ts';

/**
 * Whether overlayfs works on a directory's file system, with either the mount options to use or the reason why it does not work. `unknown`:
 * the test ran out of disk space, inodes or file descriptors.
 */
export type OverlaySupport = { supported: true; options: string[] } | { supported: false | 'unknown'; reason: string };

/**
 * Sets of mount options, in order of preference. `index=off`: with an index, the kernel may reject layers that are in use by another mount
 * or have been copied. `volatile` (Linux 5.10): unmounting does not sync the whole file system; containers do not survive a power failure
 * anyway.
 */
const OPTION_SETS = [['index=off', 'volatile'], ['index=off'], []];

/** Tests overlayfs under `root`: mounts a small overlay, deletes a file in it, and checks for the whiteout. */
export function probeOverlay(system: System, root: string): OverlaySupport {
  if (/[:,\\]/.test(root)) {
    return { supported: false, reason: `overlayfs does not support the colon, comma or backslash in the path ${root}` };
  }
  const failures: unknown[] = [];
  for (const options of OPTION_SETS) {
    const directory = join(root, 'probe');
    try {
      tryOverlay(system, directory, options);
      return { supported: true, options };
    } catch (error) {
      failures.push(error);
    } finally {
      unmountTree(system, directory);
      rmSync(directory, { recursive: true, force: true });
    }
  }
  const supported = failures.some(isShortage) ? 'unknown' : false;
  return { supported, reason: `overlayfs does not work on ${root}: ${errorMessage(failures[0])}` };
}

/**
 * Finds the mount options that the kernel accepts, without writing to the disk: mounts a tmpfs on the existing directory `target`, and in it
 * a read-only overlay of two empty directories. Returns no options if none of the mounts succeeds.
 */
export function acceptedOptions(system: System, target: string): string[] {
  const [upper, lower, merged] = [join(target, 'upper'), join(target, 'lower'), join(target, 'merged')];
  const found = OPTION_SETS.find((options) => {
    try {
      mountAll(system, [{ type: 'tmpfs', source: 'tmpfs', options: ['mode=700', 'size=64k'] }], target);
      for (const path of [upper, lower, merged]) mkdirSync(path, { recursive: true, mode: PRIVATE_DIRECTORY });
      const all = ['ro', ...options, `lowerdir=${upper}:${lower}`];
      mountAll(system, [{ type: 'overlay', source: 'overlay', options: all }], merged);
      return true;
    } catch {
      return false; // probably an older kernel, which may accept fewer options
    } finally {
      unmountTree(system, target);
    }
  });
  return found ?? [];
}

function tryOverlay(system: System, directory: string, options: string[]): void {
  const [lower, upper, work, merged] = ['lower', 'upper', 'work', 'merged'].map((name) => join(directory, name));
  for (const path of [lower!, upper!, work!, merged!]) mkdirSync(path, { recursive: true, mode: PRIVATE_DIRECTORY });
  writeFileSync(join(lower!, 'deleted'), '');
  const directories = [`lowerdir=${lower}`, `upperdir=${upper}`, `workdir=${work}`];
  mountAll(system, [{ type: 'overlay', source: 'overlay', options: [...options, ...directories] }], merged!);
  rmSync(join(merged!, 'deleted'));
  const whiteout = lstatSync(join(upper!, 'deleted'));
  if (!whiteout.isCharacterDevice() || whiteout.rdev !== 0) throw new Error('deleting a file creates no whiteout');
  system.setXattr(upper!, 'trusted.overlay.opaque', Buffer.from('y'));
}

/** Stores only a snapshot's own layer in its directory; overlayfs merges the layers. */
export class OverlayLayout implements SnapshotLayout {
  readonly name = 'overlayfs';
  readonly isLayered = true;
  readonly #options: string[];

  /** `options`: mount options found by `probeOverlay`. */
  constructor(options: string[]) {
    this.#options = options;
  }

  async create({ kind, directory, parents }: SnapshotDirectories): Promise<void> {
    const files = filesIn(directory);
    mkdirSync(files, { mode: CONTAINER_DIRECTORY });
    chmodSync(files, CONTAINER_DIRECTORY); // mkdir applies the umask
    if (kind === 'active') mkdirSync(workIn(directory), { mode: PRIVATE_DIRECTORY });
    if (parents[0] === undefined) return;
    // overlayfs shows the attributes of the topmost root directory, so copy them from the parent
    const { uid, gid, mode } = statSync(filesIn(parents[0]));
    chownSync(files, uid, gid);
    chmodSync(files, mode & 0o7777);
  }

  mounts({ kind, directory, parents }: SnapshotDirectories): Mount[] {
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
