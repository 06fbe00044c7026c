import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { isErrno, PodwrightError, wrapError } from '@podwright/base';
import { resolveInRoot } from '@podwright/system';
import { findUser, parseGroup, parsePasswd, type ResolvedUser, type UserRequest } from '../oci/user.ts';

/** O_PATH of Linux, which node:fs does not name: a file as a place, without opening it. */
const O_PATH = 0o10000000;
/** Largest /etc/passwd and /etc/group that are read. */
const MAX_FILE_BYTES = 1 << 20;

/**
 * Looks a user up in a root file system's /etc/passwd and /etc/group, which are hostile input: links do not lead out of
 * the root, big and odd files are refused. Numeric ids need no entry; `invalid_argument` for names without one.
 */
export async function resolveUser(rootfs: string, request: UserRequest): Promise<ResolvedUser> {
  const [passwd, group] = await Promise.all([
    readAccounts(rootfs, '/etc/passwd'),
    request.groupsPolicy === 'merge' || /:.*\D/.test(request.user) ? readAccounts(rootfs, '/etc/group') : '',
  ]);
  return findUser(parsePasswd(passwd), parseGroup(group), request);
}

/** A file of accounts, '' if the root has none. */
async function readAccounts(rootfs: string, path: string): Promise<string> {
  const file = await resolveInRoot(rootfs, path);
  try {
    return readSmallFile(file);
  } catch (error) {
    if (isErrno(error, 'ENOENT') || isErrno(error, 'ENOTDIR')) return '';
    throw wrapError(`read ${path} of the image`, error, 'invalid_argument');
  }
}

/** At once: by way of the thread pool its seven system calls take a millisecond. */
function readSmallFile(path: string): string {
  // Only looked at first: to open a pipe or a device can mean to wait, or to act on the host.
  const place = openSync(path, O_PATH | constants.O_NOFOLLOW);
  try {
    const stats = fstatSync(place);
    if (!stats.isFile() || stats.size > MAX_FILE_BYTES)
      throw new PodwrightError('invalid_argument', 'it is no file, or over 1 MiB');
    return readFileSync(`/proc/self/fd/${place}`, 'utf8');
  } finally {
    closeSync(place);
  }
}
