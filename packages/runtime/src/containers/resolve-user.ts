import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { isErrno, PodwrightError, wrapError } from '@podwright/base';
import { findUser, parseGroup, parsePasswd, type ResolvedUser, type UserRequest } from '@podwright/oci';
import { resolveInRoot } from '@podwright/system';
import { mayWaitForServer, readMountinfo } from '@podwright/system/mountinfo';
import { isWithin } from './kernel-paths.ts';
import type { ResolvedMount } from './resolve-mounts.ts';

const PASSWD = '/etc/passwd';
/** Linux's O_PATH, missing from node:fs: opens a descriptor that refers to a path without opening the file itself. */
const O_PATH = 0o10000000;
/** Maximum size of an image's /etc/passwd and /etc/group. */
const MAX_FILE_BYTES = 1 << 20;

/**
 * Looks up a user in the /etc/passwd and /etc/group of a root file system. The files are untrusted: symbolic links are resolved within the
 * root, and large or special files are rejected. Numeric IDs need no entry. Throws `invalid_argument` for a name without an entry.
 */
export async function resolveUser(rootfs: string, request: UserRequest): Promise<ResolvedUser> {
  const [passwd, group] = await Promise.all([
    readAccounts(rootfs, PASSWD),
    request.groupsPolicy === 'merge' || /:.*\D/.test(request.user) ? readAccounts(rootfs, '/etc/group') : '',
  ]);
  return findUser(parsePasswd(passwd), parseGroup(group), request);
}

/**
 * Returns true if the /etc/passwd seen by the container's process has no entry for the UID. One of `mounts` (parents first) might cover the
 * image's file. Returns false if the file cannot be read, or if any mount is on a file system that can wait for a server (NFS, FUSE);
 * looking up the user is then left to the OCI runtime.
 */
export async function lacksAccount(
  uid: number,
  { rootfs, mounts }: { rootfs: string; mounts: Pick<ResolvedMount, 'destination' | 'source'>[] },
  mountinfo = readMountinfo(),
): Promise<boolean> {
  if (mounts.some(({ source }) => mayWaitForServer(source, mountinfo))) return false;
  const covers = new Map(mounts.map(({ destination, source }) => [destination, source]));
  try {
    const path = posix.resolve('/', posix.relative(rootfs, await resolveInRoot(rootfs, PASSWD, { covers })));
    const mount = mounts.findLast(({ destination }) => isWithin(destination, path));
    const [top, rest] = mount === undefined ? [rootfs, path] : [mount.source, posix.relative(mount.destination, path)];
    return !parsePasswd(readIfExists(posix.join(top, rest))).some((entry) => entry.uid === uid);
  } catch {
    return false;
  }
}

/** Returns the contents of the image's /etc/passwd or /etc/group; '' if the file does not exist. */
async function readAccounts(rootfs: string, path: string): Promise<string> {
  const file = await resolveInRoot(rootfs, path);
  try {
    return readIfExists(file);
  } catch (error) {
    throw wrapError(`read ${path} of the image`, error, 'invalid_argument');
  }
}

function readIfExists(file: string): string {
  try {
    return readSmallFile(file);
  } catch (error) {
    if (isErrno(error, 'ENOENT') || isErrno(error, 'ENOTDIR')) return '';
    throw error;
  }
}

/** Synchronous: with asynchronous file access, the seven system calls would go through libuv's thread pool and take a millisecond. */
function readSmallFile(path: string): string {
  // O_PATH first: opening a pipe can block, and opening a device can have side effects on the host.
  const handle = openSync(path, O_PATH | constants.O_NOFOLLOW);
  try {
    const stats = fstatSync(handle);
    if (!stats.isFile() || stats.size > MAX_FILE_BYTES)
      throw new PodwrightError('invalid_argument', 'it is not a file, or over 1 MiB');
    return readFileSync(`/proc/self/fd/${handle}`, 'utf8');
  } finally {
    closeSync(handle);
  }
}
