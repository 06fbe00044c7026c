import { constants } from 'node:fs';
import { lstat, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { errorMessage, isErrno, LOG_DIRECTORY, LOG_FILE, type Logger, mendMode } from '@podwright/base';
import type { CriClient } from '@podwright/cri';
import type { RuntimeContainer } from '../kubecontainer/runtime-pod.ts';

export type LogRotationPolicy = {
  maxSizeBytes: number;
  maxFiles: number;
  /** Logs that are looked at at a time. */
  maxWorkers: number;
};

/** Files beside `N.log`: `N.log.<time>`, and `.gz` of all but the newest of them. */
const rotatedSuffix = /^\.\d{8}-\d{6}(?:\.gz)?$/;

/** Rotates the logs of running containers that have grown over the limit, and keeps at most `maxFiles` of each. */
export async function rotateLogs(
  { cri, logger, policy }: { cri: CriClient; logger: Logger; policy: LogRotationPolicy },
  containers: RuntimeContainer[],
): Promise<void> {
  const waiting = containers.filter(({ state, logPath }) => state === 'running' && logPath !== '');
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await rotateLarge(next);
  };
  await Promise.all(Array.from({ length: Math.min(policy.maxWorkers, waiting.length) }, work));

  async function rotateLarge({ id, logPath }: RuntimeContainer): Promise<void> {
    try {
      closeDirectories(logPath);
      if ((await sizeOf(logPath)) < policy.maxSizeBytes) return;
      await removeOldest(logPath, policy.maxFiles - 2);
      await compressRotated(logPath);
      await rotate(cri, id, logPath);
    } catch (error) {
      logger.warn({ id, logPath, error: errorMessage(error) }, 'the container log could not be rotated');
    }
  }
}

/** Directories of logs that an earlier version made were open to everybody on the host. */
function closeDirectories(logPath: string): void {
  for (const directory of [dirname(logPath), dirname(dirname(logPath))]) mendMode(directory, LOG_DIRECTORY);
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await lstat(path)).size;
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return 0;
    throw error;
  }
}

/** Rotated files of a log, oldest first. */
async function rotatedFiles(logPath: string): Promise<string[]> {
  const prefix = basename(logPath);
  const names = await readdir(dirname(logPath));
  return names
    .filter((name) => name.startsWith(prefix) && rotatedSuffix.test(name.slice(prefix.length)))
    .sort()
    .map((name) => join(dirname(logPath), name));
}

/** Makes room for one more rotated file. */
async function removeOldest(logPath: string, keep: number): Promise<void> {
  const files = await rotatedFiles(logPath);
  for (const file of files.slice(0, Math.max(0, files.length - Math.max(0, keep)))) await rm(file, { force: true });
}

async function compressRotated(logPath: string): Promise<void> {
  for (const file of await rotatedFiles(logPath)) {
    if (file.endsWith('.gz')) continue;
    if ((await lstat(file)).isFile()) await compress(file);
  }
}

/** Follows no links: a pod that may write to the directory could have us read and write other files of the host. */
async function compress(file: string): Promise<void> {
  const temporary = `${file}.tmp`;
  await rm(temporary, { force: true }); // of a compression that was cut short
  await using from = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  await using to = await open(temporary, 'wx', LOG_FILE);
  await pipeline(from.createReadStream(), createGzip(), to.createWriteStream());
  await rename(temporary, `${file}.gz`);
  await rm(file);
}

/** The newest rotated file stays plain: a reader may still be in it. A runtime that does not reopen gets its file back. */
async function rotate(cri: CriClient, containerId: string, logPath: string): Promise<void> {
  const time = new Date().toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15);
  const rotated = `${logPath}.${time}`;
  await rename(logPath, rotated);
  try {
    await cri.runtime.reopenContainerLog({ containerId });
  } catch (error) {
    await rename(rotated, logPath);
    throw error;
  }
}
