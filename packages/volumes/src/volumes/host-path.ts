import type { Stats } from 'node:fs';
import { mkdir, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { HOST_PATH_DIRECTORY, HOST_PATH_FILE, isErrno, PodwrightError } from '@podwright/base';
import type { HostPathType, Volume } from '@podwright/kube-api';
import { serverMounts } from '@podwright/system/mountinfo';
import type { VolumePlugin, VolumeRequest } from './plugin.ts';

type HostPathSource = NonNullable<Volume['hostPath']>;
type CheckedType = Exclude<HostPathType, ''>;

const checks: Record<CheckedType, { isThat: (stats: Stats) => boolean; kind: string }> = {
  DirectoryOrCreate: { isThat: (stats) => stats.isDirectory(), kind: 'directory' },
  Directory: { isThat: (stats) => stats.isDirectory(), kind: 'directory' },
  FileOrCreate: { isThat: (stats) => stats.isFile(), kind: 'file' },
  File: { isThat: (stats) => stats.isFile(), kind: 'file' },
  Socket: { isThat: (stats) => stats.isSocket(), kind: 'socket file' },
  CharDevice: { isThat: (stats) => stats.isCharacterDevice(), kind: 'character device' },
  BlockDevice: { isThat: (stats) => stats.isBlockDevice(), kind: 'block device' },
};

/** `hostPath`: a path on the host. It is checked or created according to its type, and never removed. */
export class HostPathPlugin implements VolumePlugin {
  readonly name = 'kubernetes.io/host-path';

  supports(volume: Volume): boolean {
    return volume.hostPath !== undefined;
  }

  async setUp({ volume }: VolumeRequest): Promise<string> {
    const { path, type = '' } = volume.hostPath!;
    await serverMounts.requireResponse(path);
    if (type === '') return path;
    const stats = (await statIfThere(path)) ?? (await create(path, type));
    const { isThat, kind } = checks[type];
    if (stats !== undefined && isThat(stats)) return path;
    throw new PodwrightError('failed_precondition', `hostPath type check failed: ${path} is not a ${kind}`);
  }
}

/**
 * Returns the reason, as a clause, if the path does not match its type. `undefined` if it matches, or if it is missing and would be
 * created. Rejects with `EACCES` if this process may not read the path.
 */
export async function hostPathProblem({ path, type = '' }: HostPathSource): Promise<string | undefined> {
  if (type === '') return undefined;
  await serverMounts.requireResponse(path);
  const stats = await statIfThere(path);
  if (stats !== undefined) return checks[type].isThat(stats) ? undefined : `${path} is not a ${checks[type].kind}`;
  if (type === 'DirectoryOrCreate') return undefined;
  if (type === 'FileOrCreate' && (await statIfThere(dirname(path)))?.isDirectory()) return undefined;
  return `${type === 'FileOrCreate' ? `the directory of ${path}` : path} is not there`;
}

async function create(path: string, type: CheckedType): Promise<Stats | undefined> {
  if (type === 'DirectoryOrCreate') await mkdir(path, { recursive: true, mode: HOST_PATH_DIRECTORY });
  // as in the kubelet, parent directories are not created
  else if (type === 'FileOrCreate') await (await open(path, 'a', HOST_PATH_FILE)).close();
  else return undefined;
  return stat(path);
}

async function statIfThere(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (isErrno(error, 'ENOENT') || isErrno(error, 'ENOTDIR')) return undefined;
    throw error;
  }
}
