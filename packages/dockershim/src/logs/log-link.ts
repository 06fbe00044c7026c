import { mkdir, readlink, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isErrno, LOG_DIRECTORY, wrapError } from '@podwright/base';
import { replaceFile } from '@podwright/host';
import type { ContainerInspection } from '../engine/engine-types.ts';
import { isCriLogDriver } from '../engine/log-driver.ts';

type LoggedContainer = Pick<ContainerInspection, 'Id' | 'LogPath' | 'HostConfig'>;

/**
 * Returns the path of the Engine's log file for a container, or `undefined` if the log driver writes no files that kubelets can read. The
 * Engine reports no path before the container's first start, but the path relative to the Engine's root directory is always the same.
 */
export function engineLogPath({ Id, LogPath, HostConfig }: LoggedContainer, engineRoot: string): string | undefined {
  if (!isCriLogDriver(HostConfig.LogConfig?.Type ?? '')) return undefined;
  return LogPath || join(engineRoot, logFileBelow(Id));
}

function logFileBelow(id: string): string {
  return join('containers', id, `${id}-json.log`);
}

/** Makes `link` a symlink to the Engine's log, atomically replacing any existing file or symlink. */
export async function linkLog(link: string, target: string): Promise<void> {
  if ((await readLink(link)) === target) return;
  try {
    await mkdir(dirname(link), { recursive: true, mode: LOG_DIRECTORY });
    await replaceFile(link, (temporary) => symlink(target, temporary));
  } catch (error) {
    throw wrapError(`link the log ${link}`, error);
  }
}

/** Removes the symlink to this container's log. Leaves regular files and symlinks to other containers' logs in place. */
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
