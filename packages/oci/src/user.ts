import { PodwrightError } from '@podwright/base';

/** The user requested for a container's init process. */
export type UserRequest = {
  /** `user`, `uid`, `user:group` or `uid:gid`; '' is root. */
  user: string;
  supplementalGroups: number[];
  /** `merge` adds the user's groups from the image's /etc/group; `strict` does not. */
  groupsPolicy: 'merge' | 'strict';
};

export type ResolvedUser = { uid: number; gid: number; additionalGids: number[] };

const MAX_ID = 2 ** 31 - 1;

/**
 * Returns the user to look up: the one that the container requests, otherwise the image's. Throws `invalid_argument` for a group without a
 * user.
 */
export function userString(
  requested: { runAsUser?: number; runAsUsername: string; runAsGroup?: number },
  imageUser: string | undefined,
): string {
  const user = requested.runAsUser === undefined ? requested.runAsUsername : String(requested.runAsUser);
  if (user !== '') return requested.runAsGroup === undefined ? user : `${user}:${requested.runAsGroup}`;
  if (requested.runAsGroup !== undefined)
    throw new PodwrightError('invalid_argument', `run as group ${requested.runAsGroup}: a group needs a user`);
  return imageUser ?? '';
}

type PasswdEntry = { name: string; uid: number; gid: number };
type GroupEntry = { name: string; gid: number; members: string[] };

/** Looks up a user. The additional groups include the primary group (CVE-2022-36109). */
export function findUser(passwd: PasswdEntry[], groups: GroupEntry[], request: UserRequest): ResolvedUser {
  const [user = '', group = ''] = request.user.split(':', 2);
  const numericUid = user === '' ? 0 : numericId(user);
  const entry = passwd.find(({ name, uid }) => (numericUid === undefined ? name === user : uid === numericUid));
  const uid = numericUid ?? entry?.uid;
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
  if (id > MAX_ID) throw new PodwrightError('invalid_argument', `id ${text} is out of range (0 to ${MAX_ID})`);
  return id;
}
