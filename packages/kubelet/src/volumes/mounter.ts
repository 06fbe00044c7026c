import { readFile, realpath } from 'node:fs/promises';
import { isErrno, runChecked } from '@podwright/base';
import { mountsBelow, parseMountinfo } from '@podwright/system/mountinfo';
import { MOUNT_TIMEOUT_MS } from '../limits.ts';

/** Mounts and unmounts on the host. */
export interface Mounter {
  /** A tmpfs at `target`, with options such as `size=1048576` and `mode=0777`. */
  mountTmpfs(target: string, options: string[], signal?: AbortSignal): Promise<void>;
  /** Makes `source` visible at `target`. Neither path is resolved beforehand, so that `/proc/PID/fd/N` means that file. */
  bindMount(source: string, target: string, signal?: AbortSignal): Promise<void>;
  /** Takes the topmost mount at `target` away; one that is busy goes once it is no longer used. */
  unmount(target: string): Promise<void>;
  /** Mount points that are `directory` or below it, links resolved, once a mount, the last one first. */
  mountsBelow(directory: string): Promise<string[]>;
  /** True if something is mounted at `path` itself. */
  isMountPoint(path: string): Promise<boolean>;
}

/** Uses mount(8) and umount(8). */
export class ProgramMounter implements Mounter {
  async mountTmpfs(target: string, options: string[], signal?: AbortSignal): Promise<void> {
    await runChecked('mount', ['-n', '-t', 'tmpfs', '-o', options.join(','), 'tmpfs', target], {
      signal: bounded(signal),
    });
  }

  async bindMount(source: string, target: string, signal?: AbortSignal): Promise<void> {
    await runChecked('mount', ['-n', '--no-canonicalize', '--bind', source, target], { signal: bounded(signal) });
  }

  async unmount(target: string): Promise<void> {
    await runChecked('umount', ['-n', '--no-canonicalize', '--lazy', target], { signal: bounded() });
  }

  async mountsBelow(directory: string): Promise<string[]> {
    const real = await realpathIfThere(directory);
    if (real === undefined) return [];
    const mounts = parseMountinfo(await readFile('/proc/self/mountinfo'));
    return mountsBelow(real, mounts)
      .map(({ mountPoint }) => mountPoint)
      .reverse();
  }

  async isMountPoint(path: string): Promise<boolean> {
    const real = await realpathIfThere(path);
    return real !== undefined && (await this.mountsBelow(real)).includes(real);
  }
}

function bounded(signal?: AbortSignal): AbortSignal {
  const late = AbortSignal.timeout(MOUNT_TIMEOUT_MS);
  return signal === undefined ? late : AbortSignal.any([signal, late]);
}

/** The kernel knows mounts by their real paths only. */
async function realpathIfThere(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}
