import { randomBytes } from 'node:crypto';
import { constants, existsSync } from 'node:fs';
import { chmod, chown, lstat, mkdir, open, readdir, readFile, readlink, rename, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  CONTAINER_DIRECTORY,
  GROUP_READABLE,
  isErrno,
  PodwrightError,
  PRIVATE_DIRECTORY,
  PRIVATE_FILE,
  SET_GROUP_ID,
} from '@podwright/base';
import { shortestPath } from '@podwright/kube-api';
import type { Payload } from './payload.ts';

/**
 * The layout of a volume whose content changes atomically, as in the kubelet:
 *
 *   <directory>/..2026_01_02_03_04_05.a1b2c3/index.html   the files
 *   <directory>/..data -> ..2026_01_02_03_04_05.a1b2c3    replaced by a single rename
 *   <directory>/index.html -> ..data/index.html           what containers see
 */
const DATA_LINK = '..data';
/** Kernel limits on the length of paths and file names (path_resolution(7)). */
const MAX_PAYLOAD_PATH = 4096;
const MAX_FILE_NAME = 255;
const NEW_DATA_LINK = '..data_tmp';

export type WriteOptions = {
  /** The group that must be able to read all files (the pod's fsGroup). */
  group?: number;
  /** Mount points of other volumes inside this one, which are left in place. */
  mountPoints?: string[];
};

/** Replaces the contents of `directory`, which must exist, with `files`. Returns false if they are already the same. */
export async function writeAtomically(directory: string, files: Payload, options: WriteOptions = {}): Promise<boolean> {
  const payload: Payload = new Map([...files].map(([path, file]) => [checkedPath(path), file]));
  const current = await currentVersion(directory);
  const { mountPoints = [] } = options;
  for (const path of mountPoints) await mkdir(join(directory, path), { recursive: true, mode: CONTAINER_DIRECTORY });
  const covered = new Set(mountPoints.map(firstName));
  const show = async (version: string) => {
    await linkVisible(directory, payload, { covered, isNew: current === undefined });
    await removeOthers(directory, payload, new Set([version, ...covered]));
  };
  if (current !== undefined && (await holds(join(directory, current), payload, options))) {
    await show(current); // a killed writer may have skipped this step
    return false;
  }
  const version = `..${new Date().toISOString().slice(0, 19).replaceAll(/[-:T]/g, '_')}.${randomBytes(4).toString('hex')}`;
  await writeVersion(join(directory, version), payload, options);
  await rm(join(directory, NEW_DATA_LINK), { force: true });
  await symlink(version, join(directory, NEW_DATA_LINK));
  await rename(join(directory, NEW_DATA_LINK), join(directory, DATA_LINK));
  await show(version);
  return true;
}

/**
 * Returns the normalized path, in upstream's form. Paths are set by users, for example as keys of API objects. Throws if a path leads out
 * of the volume or to the writer's own files in it.
 */
function checkedPath(path: string): string {
  const shortest = shortestPath(path);
  const isWrong =
    shortest === '' ||
    path.startsWith('/') ||
    shortest.startsWith('..') ||
    Buffer.byteLength(path) > MAX_PAYLOAD_PATH ||
    shortest.split('/').some((name) => name === '..' || Buffer.byteLength(name) > MAX_FILE_NAME || name.includes('\0'));
  if (isWrong) throw new PodwrightError('failed_precondition', `invalid path: ${path.slice(0, MAX_FILE_NAME)}`);
  return shortest;
}

/** Whether the directory contains a complete version of the files. */
export async function isWritten(directory: string): Promise<boolean> {
  return (await currentVersion(directory)) !== undefined;
}

/** Synchronous version of `isWritten`. */
export const isWrittenNow = (directory: string): boolean => existsSync(join(directory, DATA_LINK));

async function currentVersion(directory: string): Promise<string | undefined> {
  try {
    return await readlink(join(directory, DATA_LINK));
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}

async function writeVersion(root: string, payload: Payload, { group }: WriteOptions): Promise<void> {
  await makeDirectory(root, group);
  for (const path of directoriesOf(payload)) await makeDirectory(join(root, path), group);
  for (const [path, { data, mode, uid }] of payload) {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    const file = await open(join(root, path), flags, PRIVATE_FILE);
    try {
      await file.writeFile(data);
      if (group !== undefined || uid !== undefined) await file.chown(uid ?? 0, group ?? 0);
      await file.chmod(fileMode(mode, group));
    } finally {
      await file.close();
    }
  }
}

async function makeDirectory(path: string, group: number | undefined): Promise<void> {
  await mkdir(path, { mode: PRIVATE_DIRECTORY });
  if (group !== undefined) await chown(path, 0, group);
  await chmod(path, group === undefined ? CONTAINER_DIRECTORY : SET_GROUP_ID | CONTAINER_DIRECTORY);
}

function fileMode(mode: number, group: number | undefined): number {
  return group === undefined ? mode : mode | GROUP_READABLE;
}

/** Returns the directories that contain the files, parents first. */
function directoriesOf(payload: Payload): string[] {
  const found = new Set<string>();
  for (const path of payload.keys()) {
    for (let parent = dirname(path); parent !== '.'; parent = dirname(parent)) found.add(parent);
  }
  return [...found].sort();
}

/**
 * Flags that keep `open` from waiting for containers to release a lease on the file (fcntl(2), F_SETLEASE): it fails with EAGAIN instead.
 */
const READ_AT_ONCE = constants.O_RDONLY | constants.O_NONBLOCK;

/** Whether `root` contains exactly the payload's files, with the same contents, owner UIDs and modes. */
async function holds(root: string, payload: Payload, { group }: WriteOptions): Promise<boolean> {
  try {
    const entries = await readdir(root, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => !entry.isDirectory());
    if (files.length !== payload.size) return false;
    for (const [path, { data, mode, uid }] of payload) {
      const stats = await lstat(join(root, path));
      if (uid !== undefined && stats.uid !== uid) return false;
      if (!stats.isFile() || (stats.mode & 0o777) !== fileMode(mode, group) || stats.size !== data.length) return false;
      if (!data.equals(await readFile(join(root, path), { flag: READ_AT_ONCE }))) return false;
    }
    return true;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EAGAIN'].some((code) => isErrno(error, code))) return false;
    throw error;
  }
}

const firstName = (path: string) => path.split('/')[0]!;

async function linkVisible(
  directory: string,
  payload: Payload,
  { covered, isNew }: { covered: Set<string>; isNew: boolean },
): Promise<void> {
  for (const name of new Set([...payload.keys()].map(firstName))) {
    if (covered.has(name)) continue;
    const link = join(directory, name);
    const target = `${DATA_LINK}/${name}`;
    if ((isNew && (await isLinked(link, target))) || (await readlinkIfLink(link)) === target) continue;
    await rm(link, { recursive: true, force: true });
    await symlink(target, link);
  }
}

/** Creates a symbolic link. Returns false if its path already exists. */
async function isLinked(link: string, target: string): Promise<boolean> {
  try {
    await symlink(target, link);
    return true;
  } catch (error) {
    if (isErrno(error, 'EEXIST')) return false;
    throw error;
  }
}

async function readlinkIfLink(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch (error) {
    if (isErrno(error, 'ENOENT') || isErrno(error, 'EINVAL')) return undefined;
    throw error;
  }
}

/** Removes earlier versions, leftovers of interrupted writers, and names no longer in the payload. */
async function removeOthers(directory: string, payload: Payload, own: Set<string>): Promise<void> {
  const keep = new Set([...own, DATA_LINK, ...[...payload.keys()].map(firstName)]);
  // names may be invalid UTF-8, since containers with write access can choose them
  for (const name of await readdir(directory, 'buffer')) {
    const path = Buffer.concat([Buffer.from(`${directory}/`), name]);
    if (!keep.has(name.toString())) await rm(path, { recursive: true, force: true });
  }
}
