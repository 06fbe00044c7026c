import { lstat, realpath } from 'node:fs/promises';
import { isErrno, withTimeout } from '@podwright/base';
import { runChecked } from '@podwright/host';
import { parseMountsBelow, readMountinfo, readMounts } from '@podwright/system/mountinfo';
import { MOUNT_TIMEOUT_MS } from './limits.ts';

/** Mounts and unmounts on the host. */
export interface Mounter {
  /**
   * Mounts a tmpfs at `target`, with options such as `size=1048576` and `mode=0777`. Its pages are never swapped out if the kernel supports
   * that.
   */
  mountTmpfs(target: string, options: string[], signal?: AbortSignal): Promise<void>;
  mount(request: MountRequest, signal?: AbortSignal): Promise<void>;
  /** Bind-mounts `source` at `target`. Paths are not canonicalized, so that `/proc/PID/fd/N` refers to that open file. */
  bindMount(source: string, target: string, signal?: AbortSignal): Promise<void>;
  /**
   * Makes the mount at `directory` recursively shared: later mounts under it propagate to its bind mounts and vice versa
   * (mount_namespaces(7)).
   */
  makeShared(directory: string, signal?: AbortSignal): Promise<void>;
  /** Unmounts the topmost mount at `target`. A busy mount is detached lazily. */
  unmount(target: string): Promise<void>;
  /** Returns the mount points at and under `directory`, with symlinks resolved: one entry per mount, most recent first. */
  mountsBelow(directory: string): Promise<string[]>;
  /** Whether anything is mounted at exactly `path`. */
  isMountPoint(path: string): Promise<boolean>;
  /** Whether the mount that contains `directory` is shared, which means that mounts under it already propagate. */
  isShared(directory: string): Promise<boolean>;
  /** Returns the mount points of bind mounts of exactly this directory. */
  mountsOf(directory: string): Promise<string[]>;
}

/** A request to mount a file system of `type`, such as `nfs`, from `source` at `target`. */
export type MountRequest = { type: string; source: string; target: string; options: string[] };

/** System calls for tmpfs, available if the process has a foreign function interface. Both throw if the kernel refuses. */
export type TmpfsCalls = {
  /** mount(2) for a tmpfs. `data`: comma-separated options. */
  mount(target: string, data: string): void;
  /** umount2(2), which detaches even busy mounts. */
  detach(target: string): void;
};

/** Mounts and unmounts with mount(8) and umount(8). If `tmpfs` is set, no program is run for tmpfs mounts, which most pods have. */
export class ProgramMounter implements Mounter {
  readonly #tmpfs: TmpfsCalls | undefined;
  /** Linux supports `noswap` since 6.4, but not in user namespaces. Cleared if a tmpfs cannot be mounted with it. */
  #withoutSwap: string[] = ['noswap'];

  constructor(tmpfs?: TmpfsCalls) {
    this.#tmpfs = tmpfs;
  }

  async mountTmpfs(target: string, given: string[], signal?: AbortSignal): Promise<void> {
    const mount = async (withoutSwap: readonly string[]) => {
      const options = [...given, ...withoutSwap];
      if (this.#tmpfs === undefined) await this.mount({ type: 'tmpfs', source: 'tmpfs', target, options }, signal);
      else this.#tmpfs.mount(target, options.join(','));
    };
    if (this.#withoutSwap.length === 0) return mount([]);
    await mount(this.#withoutSwap).catch(async () => {
      signal?.throwIfAborted();
      await mount([]);
      this.#withoutSwap = [];
    });
  }

  async mount({ type, source, target, options }: MountRequest, signal?: AbortSignal): Promise<void> {
    const given = options.length === 0 ? [] : ['-o', options.join(',')];
    await run('mount', ['-n', '-t', type, ...given, source, target], signal);
  }

  async bindMount(source: string, target: string, signal?: AbortSignal): Promise<void> {
    await run('mount', ['-n', '--no-canonicalize', '--bind', source, target], signal);
  }

  async makeShared(directory: string, signal?: AbortSignal): Promise<void> {
    await this.bindMount(directory, directory, signal);
    await run('mount', ['-n', '--make-rshared', directory], signal);
  }

  async unmount(target: string): Promise<void> {
    if (this.#tmpfs !== undefined && isTmpfs(target)) this.#tmpfs.detach(target);
    else await run('umount', ['-n', '--no-canonicalize', '--lazy', target]);
  }

  async mountsBelow(directory: string): Promise<string[]> {
    // mount points are listed with symlinks already resolved, and resolving one again could block on an unresponsive file server
    const listed = parseMountsBelow(directory, readMountinfo());
    const isListed = listed.some(({ mountPoint }) => mountPoint === directory);
    const real = isListed ? directory : await realpathIfThere(directory);
    if (real === undefined) return [];
    const mounts = real === directory ? listed : parseMountsBelow(real, readMountinfo());
    return mounts.map(({ mountPoint }) => mountPoint).reverse();
  }

  async isMountPoint(path: string): Promise<boolean> {
    if (parseMountsBelow(path, readMountinfo()).some(({ mountPoint }) => mountPoint === path)) return true;
    const real = await realpathIfThere(path);
    return real !== undefined && real !== path && (await this.mountsBelow(real)).includes(real);
  }

  async isShared(directory: string): Promise<boolean> {
    const real = await realpath(directory);
    const around = readMounts().filter(
      ({ mountPoint }) => mountPoint === '/' || real === mountPoint || real.startsWith(`${mountPoint}/`),
    );
    // the innermost mount, or the topmost of those stacked on its mount point
    const { propagation } = around.reduce((a, b) => (b.mountPoint.length >= a.mountPoint.length ? b : a));
    return propagation.some((one) => one.startsWith('shared:'));
  }

  async mountsOf(directory: string): Promise<string[]> {
    const real = await realpath(directory);
    const mounts = readMounts();
    const { dev, ino } = await lstat(real);
    // exclude the same path in other file systems and the directory's own mount, since neither is a bind mount of the directory
    const candidates = mounts.filter(({ root, mountPoint }) => real.endsWith(root) && mountPoint !== real);
    const shown = await Promise.all(
      candidates.map(async ({ mountPoint }) => {
        const found = await lstat(mountPoint).catch(() => undefined);
        return found?.dev === dev && found.ino === ino ? [mountPoint] : [];
      }),
    );
    return shown.flat();
  }
}

/** Whether the topmost mount at a mount point is a tmpfs, in which case no file server can delay the system call. */
function isTmpfs(target: string): boolean {
  const mounts = parseMountsBelow(target, readMountinfo());
  return mounts.findLast(({ mountPoint }) => mountPoint === target)?.type === 'tmpfs';
}

async function run(program: string, args: string[], parent?: AbortSignal): Promise<void> {
  using signal = withTimeout(parent, MOUNT_TIMEOUT_MS, program);
  await runChecked(program, args, { signal });
}

/** Resolves symlinks, because the kernel lists mounts by their real paths; `undefined` if the path does not exist. */
async function realpathIfThere(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}
