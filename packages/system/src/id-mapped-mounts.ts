import { chownSync, closeSync, mkdirSync, rmdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PodwrightError, PRIVATE_DIRECTORY } from '@podwright/base';
import { hasErrno } from './errno.ts';
import { mountFlags, parseMountOptions } from './mount-options.ts';
import { unmountOnce } from './mountinfo.ts';
import type { Mount } from './mounts.ts';
import { commonDirectory, mountAll } from './mounts.ts';
import type { System } from './system.ts';
import { hostIdOf, type IdMappings } from './user-namespace.ts';

/** A user namespace: an open descriptor for it, and its ID mappings. */
export type MappedUsers = { descriptor: number; mappings: IdMappings };

/** A mount point, and the user namespace that should own the files mounted there. */
export type MappedPlace = { target: string; users: MappedUsers };

/** Name of the temporary directory, next to the mount point, for ID-mapping overlay layers before the overlay is mounted. */
const LAYERS = 'layers';

/**
 * Like `mountAll`, but ID-mapped: inside the namespace, files have the same owner IDs as on disk, and the files on disk are left unchanged.
 * For an overlay, the lower layers are ID-mapped, whereas new files are created in the upper directory with the mapped host IDs. Throws
 * `failed_precondition` if the kernel or the file system does not support this.
 */
export function mountAllIdMapped(system: System, mounts: Mount[], place: MappedPlace): void {
  for (const mount of mounts) {
    if (mount.type === 'overlay') mountOverlay(system, mount, place);
    else if (mount.options.includes('bind') || mount.options.includes('rbind')) mountBind(system, mount, place);
    else
      throw new PodwrightError(
        'failed_precondition',
        `mount ${mount.type} with mapped ids: only overlays and bind mounts support it`,
      );
  }
}

/** Input for an ID-mapped bind mount. `descriptor` refers to the user namespace that provides the ID mappings. */
export type IdMappedBind = { source: string; target: string; descriptor: number; propagation: 'private' | 'slave' };

/** Attaches a recursive copy of the mount at `source` to `target`. Only the copy's topmost mount is ID-mapped. */
export function bindIdMapped(system: System, bind: IdMappedBind): void {
  const { source, target, descriptor, propagation } = bind;
  const copy = system.cloneMount(source);
  try {
    system.changeMount(copy, { userNamespace: descriptor });
    // Leave the source's peer group; otherwise, unmounts of the copy would propagate to the source.
    system.changeMount(copy, { propagation: mountFlags[propagation] });
    system.attachMount(copy, target);
  } catch (error) {
    throw cannotMap(source, error);
  } finally {
    closeSync(copy);
  }
}

function mountBind(system: System, { source, options }: Mount, { target, users }: MappedPlace): void {
  bindIdMapped(system, { source, target, descriptor: users.descriptor, propagation: 'private' });
  const { flags } = parseMountOptions(options);
  try {
    system.mount(target, { flags: (flags & ~mountFlags.recursive) | mountFlags.bind | mountFlags.remount });
  } catch (error) {
    unmountOnce(system, target);
    throw error;
  }
}

/**
 * Mounts an overlay with ID-mapped layers. The kernel clones the layers' mounts for the overlay, so the temporary mounts can be unmounted
 * again.
 */
function mountOverlay(system: System, mount: Mount, { target, users }: MappedPlace): void {
  const lower = optionOf(mount, 'lowerdir')?.split(':') ?? [];
  const upper = optionOf(mount, 'upperdir');
  const directory = commonDirectory(lower);
  const layers = join(dirname(target), LAYERS);
  mkdirSync(layers, { recursive: true, mode: PRIVATE_DIRECTORY });
  bindIdMapped(system, { source: directory, target: layers, descriptor: users.descriptor, propagation: 'private' });
  try {
    if (upper !== undefined) chownToMappedIds(upper, users.mappings);
    const mapped = lower.map((path) => layers + path.slice(directory.length)).join(':');
    const options = mount.options.map((option) => (option.startsWith('lowerdir=') ? `lowerdir=${mapped}` : option));
    mountAll(system, [{ ...mount, options }], target);
  } catch (error) {
    throw cannotMap(directory, error);
  } finally {
    unmountOnce(system, layers);
    rmdirSync(layers);
  }
}

/** Changes a file's owner and group to the host IDs that the current ones map to. Unmapped IDs are left unchanged. */
export function chownToMappedIds(path: string, { uids, gids }: IdMappings): void {
  const { uid, gid } = statSync(path);
  chownSync(path, hostIdOf(uids, uid) ?? uid, hostIdOf(gids, gid) ?? gid);
}

function optionOf({ options }: Mount, name: string): string | undefined {
  return options.find((option) => option.startsWith(`${name}=`))?.slice(name.length + 1);
}

function cannotMap(path: string, error: unknown): unknown {
  if (!['EINVAL', 'ENOSYS', 'EPERM'].some((name) => hasErrno(error, name))) return error;
  return new PodwrightError(
    'failed_precondition',
    `mount ${path} with mapped ids: the kernel or this file system does not support it; run the pod without a user namespace`,
    { cause: error },
  );
}
