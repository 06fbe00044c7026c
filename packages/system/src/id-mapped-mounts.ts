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

/** A user namespace: an open descriptor of it, and its mappings. */
export type MappedUsers = { descriptor: number; mappings: IdMappings };

/** Where mounts are made, and whose the files in them are. */
export type MappedPlace = { target: string; users: MappedUsers };

/** Where the layers of a root file system are while it is mounted, beside the mount point. */
const LAYERS = 'layers';

/**
 * As `mountAll`, so that the users of a user namespace own what the host's users with the same numbers own: files on disk
 * stay as they are. Layers of an overlay are shown so, and what is written goes to the upper directory with the
 * numbers that the host has for the namespace's users. `failed_precondition` if the kernel or the file system cannot.
 */
export function mountAllIdMapped(system: System, mounts: Mount[], place: MappedPlace): void {
  for (const mount of mounts) {
    if (mount.type === 'overlay') mountOverlay(system, mount, place);
    else if (mount.options.includes('bind') || mount.options.includes('rbind')) mountBind(system, mount, place);
    else
      throw new PodwrightError(
        'failed_precondition',
        `mount ${mount.type} with mapped ids: only overlays and binds can be`,
      );
  }
}

/** `descriptor` is of the user namespace whose mapping is used. */
export type IdMappedBind = { source: string; target: string; descriptor: number; propagation: 'private' | 'slave' };

/** Makes a copy of the mount at `source`, and of those below it, at `target`; the mapping is of the topmost one alone. */
export function bindIdMapped(system: System, bind: IdMappedBind): void {
  const { source, target, descriptor, propagation } = bind;
  const copy = system.cloneMount(source);
  try {
    system.changeMount(copy, { userNamespace: descriptor });
    // Not in the source's peer group: what is unmounted here must not go there.
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

/** The kernel keeps its own copies of an overlay's layers, so that theirs can be unmounted afterwards. */
function mountOverlay(system: System, mount: Mount, { target, users }: MappedPlace): void {
  const lower = optionOf(mount, 'lowerdir')?.split(':') ?? [];
  const upper = optionOf(mount, 'upperdir');
  const directory = commonDirectory(lower);
  const layers = join(dirname(target), LAYERS);
  mkdirSync(layers, { recursive: true, mode: PRIVATE_DIRECTORY });
  bindIdMapped(system, { source: directory, target: layers, descriptor: users.descriptor, propagation: 'private' });
  try {
    if (upper !== undefined) giveToUsers(upper, users.mappings);
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

/** Gives a file to the namespace's users with its owners' numbers; those of ids that are not mapped stay as they are. */
export function giveToUsers(path: string, { uids, gids }: IdMappings): void {
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
    `mount ${path} with mapped ids: this kernel, or the file system there, cannot do that; run the pod without a user namespace`,
    { cause: error },
  );
}
