import { chown, stat } from 'node:fs/promises';
import { isErrno } from '@podwright/base';
import { hostIdOf } from '@podwright/system';
import type { ContainerRecord } from '../records/container-record.ts';
import type { SandboxRecord } from '../records/sandbox-record.ts';

/**
 * Gives the pipes of a created container's process to its user, so that it can open /dev/stdout. OCI runtimes do that
 * themselves but for the pods of a user namespace, in which the pipes are nobody's. Streams that are no pipes stay as they are.
 */
export async function giveStdio(
  pid: number,
  { user }: Pick<ContainerRecord, 'user'>,
  { config: { userNamespace } }: Pick<SandboxRecord, 'config'>,
): Promise<void> {
  if (userNamespace === undefined) return;
  const uid = hostIdOf(userNamespace.uids, user.uid);
  const gid = hostIdOf(userNamespace.gids, user.gid);
  if (uid === undefined || gid === undefined) return;
  for (const descriptor of [0, 1, 2]) {
    try {
      const path = `/proc/${pid}/fd/${descriptor}`;
      if ((await stat(path)).isFIFO()) await chown(path, uid, gid);
    } catch (error) {
      // an end that nobody holds any more
      if (!isErrno(error, 'ENOENT')) throw error;
    }
  }
}
