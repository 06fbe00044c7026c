import { mkdir, readlink, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isErrno, LOG_DIRECTORY, wrapError } from '@podwright/base';
import { replaceFile } from '@podwright/host';
import type { ContainerInspection } from '../engine/engine-types.ts';
import { isCriLogDriver } from '../engine/log-driver.ts';

type LoggedContainer = Pick<ContainerInspection, 'Id' | 'LogPath' | 'HostConfig'>;

/**
 * Path of the Engine's log file of a container; `undefined` if the driver writes no files that kubelets can read. Before the first start
 * the Engine reports no path, but the path below its root is always the same.
 */
export function engineLogPath({ Id, LogPath, HostConfig }: LoggedContainer, engineRoot: string): string | undefined {
  if (!isCriLogDriver(HostConfig.LogConfig?.Type ?? '')) return undefined;
  return LogPath || join(engineRoot, logFileBelow(Id));
}

function logFileBelow(id: string): string {
  return join('containers', id, `${id}-json.log`);
}

/** Makes `link` a link to the Engine's log. Atomically replaces an existing file or link. */
export async function linkLog(link: string, target: string): Promise<void> {
  if ((await readLink(link)) === target) return;
  try {
    await mkdir(dirname(link), { recursive: true, mode: LOG_DIRECTORY });
    await replaceFile(link, (temporary) => symlink(target, temporary));
  } catch (error) {
    throw wrapError(`link the log ${link}`, error);
  }
}

/** Removes the link to the log of this container. Leaves a regular file, or a link to another container's log. */
export async function unlinkLog(link: string, containerId: string): Promise<void> {
  const target = await readLink(link);
  if (target?.endsWith(`/${logFileBelow(containerId)}`)) await rm(link, { force: true });
}

async function readLink(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch (error) {
    if (['ENOENT', 'EINVAL', 'ENOTDIR'].some((code) => isErrno(error, code))) return undefined;
    throw wrapError(`read the link ${path}`, error);
  }
}
