import { constants } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { isErrno, PodwrightError, wrapError } from '@podwright/base';
import { resolveInRoot } from '@podwright/system';

/** Who a container's first process is to be. */
export type UserRequest = {
  /** `user`, `uid`, `user:group` or `uid:gid`; '' is root. */
  user: string;
  supplementalGroups: number[];
  /** `merge` adds the groups in which the image has the user; `strict` does not. */
  groupsPolicy: 'merge' | 'strict';
};

export type ResolvedUser = { uid: number; gid: number; additionalGids: number[] };

/** O_PATH of Linux, which node:fs does not name: a file as a place, without opening it. */
const O_PATH = 0o10000000;
/** Largest /etc/passwd and /etc/group that are read. */
const maxFileBytes = 1 << 20;
const maxId = 2 ** 31 - 1;

/** The user to resolve: what the container asks for, or what its image says. `invalid_argument` for a group without a user. */
export function userString(
  asked: { runAsUser?: number; runAsUsername: string; runAsGroup?: number },
  imageUser: string | undefined,
): string {
  const user = asked.runAsUser === undefined ? asked.runAsUsername : String(asked.runAsUser);
  if (user !== '') return asked.runAsGroup === undefined ? user : `${user}:${asked.runAsGroup}`;
  if (asked.runAsGroup !== undefined)
    throw new PodwrightError('invalid_argument', `run as group ${asked.runAsGroup}: a user must be given with it`);
  return imageUser ?? '';
}

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

type PasswdEntry = { name: string; uid: number; gid: number };
type GroupEntry = { name: string; gid: number; members: string[] };

/** The lookup itself. The primary group is also among the additional ones (CVE-2022-36109). */
export function findUser(passwd: PasswdEntry[], groups: GroupEntry[], request: UserRequest): ResolvedUser {
  const [user = '', group = ''] = request.user.split(':', 2);
  const wantedUid = user === '' ? 0 : numericId(user);
  const entry = passwd.find(({ name, uid }) => (wantedUid === undefined ? name === user : uid === wantedUid));
  const uid = wantedUid ?? entry?.uid;
  if (uid === undefined) throw new PodwrightError('invalid_argument', `user ${user}: the image has no such user`);
  const gid = group === '' ? (entry?.gid ?? 0) : (numericId(group) ?? groups.find(({ name }) => name === group)?.gid);
  if (gid === undefined) throw new PodwrightError('invalid_argument', `group ${group}: the image has no such group`);
  const merged =
    request.groupsPolicy === 'strict' || entry === undefined
      ? []
      : groups.filter(({ members }) => members.includes(entry.name)).map((item) => item.gid);
  return { uid, gid, additionalGids: [...new Set([gid, ...merged, ...request.supplementalGroups])] };
}

export function parsePasswd(text: string): PasswdEntry[] {
  return text.split('\n').flatMap((line) => {
    const [name, , uid, gid] = line.split(':');
    const ids = [numericId(uid ?? ''), numericId(gid ?? '')] as const;
    return name && ids[0] !== undefined && ids[1] !== undefined ? [{ name, uid: ids[0], gid: ids[1] }] : [];
  });
}

export function parseGroup(text: string): GroupEntry[] {
  return text.split('\n').flatMap((line) => {
    const [name, , id, members = ''] = line.split(':');
    const gid = numericId(id ?? '');
    return name && gid !== undefined ? [{ name, gid, members: members.trim().split(',').filter(Boolean) }] : [];
  });
}

function numericId(text: string): number | undefined {
  if (!/^\d+$/.test(text)) return undefined;
  const id = Number(text);
  if (id > maxId) throw new PodwrightError('invalid_argument', `id ${text} is out of range (0 to ${maxId})`);
  return id;
}

/** A file of accounts, '' if the root has none. */
async function readAccounts(rootfs: string, path: string): Promise<string> {
  const file = await resolveInRoot(rootfs, path);
  try {
    // Only looked at first: to open a pipe or a device can mean to wait, or to act on the host.
    await using place = await open(file, O_PATH | constants.O_NOFOLLOW);
    const stats = await place.stat();
    if (!stats.isFile() || stats.size > maxFileBytes)
      throw new PodwrightError('invalid_argument', `read ${path} of the image: it is no file, or over 1 MiB`);
    return await readFile(`/proc/self/fd/${place.fd}`, 'utf8');
  } catch (error) {
    if (isErrno(error, 'ENOENT') || isErrno(error, 'ENOTDIR')) return '';
    if (error instanceof PodwrightError) throw error;
    throw wrapError(`read ${path} of the image`, error, 'invalid_argument');
  }
}
