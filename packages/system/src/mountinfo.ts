import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isErrno } from '@podwright/base';
import { hasErrno } from './errno.ts';
import type { System } from './system.ts';

/** A line of /proc/self/mountinfo (proc_pid_mountinfo(5)). */
export type MountEntry = {
  id: number;
  parentId: number;
  /** Path of the mount's root within its file system: `/`, or the source of a bind mount. */
  root: string;
  mountPoint: string;
  options: string[];
  /** Optional fields such as `shared:N` and `master:N`; empty for a private mount. */
  propagation: string[];
  type: string;
  source: string;
  superOptions: string[];
};

/** Returns all mounts in this process's mount namespace, in the kernel's order: a later mount on the same path covers an earlier one. */
export function readMounts(path = '/proc/self/mountinfo'): MountEntry[] {
  return parseMountinfo(readMountinfo(path));
}

/**
 * Returns the content of a mountinfo file. Reads it as text to save memory: for bytes, Node.js allocates many times the size of the file,
 * since the kernel returns at most 4 KiB per read. Invalid UTF-8 is therefore lost, including in mount paths.
 */
export function readMountinfo(path = '/proc/self/mountinfo'): Buffer {
  return Buffer.from(readFileSync(path, 'utf8'));
}

/** Parses the content of a mountinfo file, skipping lines in an unknown format. */
export function parseMountinfo(content: Buffer): MountEntry[] {
  // latin1 maps each byte to one character; octal escapes stand for bytes, so they have to be decoded before UTF-8
  const lines = content.toString('latin1').split('\n');
  return lines.flatMap((line) => parseLine(line) ?? []);
}

function parseLine(line: string): MountEntry | undefined {
  const fields = line.split(' ');
  const separator = fields.indexOf('-', 6);
  if (separator === -1 || fields.length < separator + 4) return undefined;
  return {
    id: Number(fields[0]),
    parentId: Number(fields[1]),
    root: unescapeOctal(fields[3]!),
    mountPoint: unescapeOctal(fields[4]!),
    options: fields[5]!.split(','),
    propagation: fields.slice(6, separator),
    type: unescapeOctal(fields[separator + 1]!),
    source: unescapeOctal(fields[separator + 2]!),
    superOptions: fields[separator + 3]!.split(',').map(unescapeOctal),
  };
}

/** Decodes octal escapes such as `\040` in a latin1 string, then decodes the bytes as UTF-8. */
function unescapeOctal(field: string): string {
  const bytes = field.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

/** Returns the mounts at and under `path`, in the kernel's order. `path` must be absolute and free of symbolic links. */
export function mountsBelow(path: string, mounts: MountEntry[] = readMounts()): MountEntry[] {
  const prefix = path === '/' ? '/' : `${path}/`;
  return mounts.filter(({ mountPoint }) => mountPoint === path || mountPoint.startsWith(prefix));
}

/** Like `mountsBelow`, but takes the content of a mountinfo file and parses only the lines that might describe such mounts. */
export function parseMountsBelow(path: string, content: Buffer): MountEntry[] {
  return mountsBelow(path, parseMountinfo(linesWith(basename(path), content)));
}

const LOCAL_FILE_SYSTEMS = new Set([
  'tmpfs',
  'overlay',
  'ext2',
  'ext3',
  'ext4',
  'xfs',
  'btrfs',
  'f2fs',
  'zfs',
  'erofs',
]);

/**
 * Whether the file system mounted at the path might have to wait for a server, as with NFS and FUSE. Reading from it could then block this
 * process.
 */
export function mayWaitForServer(path: string, mountinfo: Buffer): boolean {
  const mount = parseMountsBelow(path, mountinfo).findLast(({ mountPoint }) => mountPoint === path);
  return mount !== undefined && !LOCAL_FILE_SYSTEMS.has(mount.type);
}

/**
 * Unmounts a path. Returns true if anything was mounted there. A busy mount is detached, and removed by the kernel once no longer in use.
 */
export function unmountOnce(system: System, path: string): boolean {
  try {
    system.unmount(path);
    return true;
  } catch (error) {
    if (hasErrno(error, 'EINVAL') || hasErrno(error, 'ENOENT')) return false; // the path is not a mount point
    if (!hasErrno(error, 'EBUSY')) throw error;
  }
  system.unmount(path, { detach: true });
  return true;
}

/** Unmounts everything at and under `path`, most recent first. No error if nothing is mounted there. */
export function unmountTree(system: System, path: string): void {
  const mounts = parseMountsBelow(path, readMountinfo());
  for (const { mountPoint } of mounts.reverse()) unmountOnce(system, mountPoint);
}

/** Like `unmountTree`, but keeps a file system mounted at `path` itself, such as a tmpfs of the administrator. */
export function unmountUnder(system: System, path: string): void {
  const mounts = parseMountsBelow(path, readMountinfo()).filter(({ mountPoint }) => mountPoint !== path);
  for (const { mountPoint } of mounts.reverse()) unmountOnce(system, mountPoint);
}

/**
 * Unmounts everything mounted on a directory's entries. Avoids reading the host's mount table, which blocks while other processes are
 * mounting. No error if the directory does not exist.
 */
export function unmountEntries(system: System, directory: string): void {
  let names: string[];
  try {
    names = readdirSync(directory);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return;
    throw error;
  }
  for (const name of names) while (unmountOnce(system, join(directory, name)));
}

/**
 * Returns the lines of a mountinfo file that might contain a path ending in `name`. Among thousands of mounts, only these few have to be
 * parsed.
 */
function linesWith(name: string, content: Buffer): Buffer {
  if (!/^[\w.-]+$/.test(name)) return content; // the kernel may escape the name
  if (!content.includes(name)) return Buffer.alloc(0);
  const lines = content.toString('latin1').split('\n');
  return Buffer.from(lines.filter((line) => line.includes(name)).join('\n'), 'latin1');
}
