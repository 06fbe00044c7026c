import { lstat, realpath } from 'node:fs/promises';
import { isErrno, runChecked, withTimeout } from '@podwright/base';
import { parseMountsBelow, readMountinfo, readMounts } from '@podwright/system/mountinfo';
import { MOUNT_TIMEOUT_MS } from './limits.ts';

/** Mounts and unmounts on the host. */
export interface Mounter {
  /** A tmpfs at `target`, with options such as `size=1048576` and `mode=0777`; never swapped out where the kernel can do so. */
  mountTmpfs(target: string, options: string[], signal?: AbortSignal): Promise<void>;
  mount(request: MountRequest, signal?: AbortSignal): Promise<void>;
  /** Makes `source` visible at `target`. Neither path is resolved beforehand, so that `/proc/PID/fd/N` means that file. */
  bindMount(source: string, target: string, signal?: AbortSignal): Promise<void>;
  /** Has what is mounted below `directory` from now on seen by the mounts of it, and the other way round (mount_namespaces(7)). */
  makeShared(directory: string, signal?: AbortSignal): Promise<void>;
  /** Takes the topmost mount at `target` away; one that is busy goes once it is no longer used. */
  unmount(target: string): Promise<void>;
  /** Mount points that are `directory` or below it, links resolved, once a mount, the last one first. */
  mountsBelow(directory: string): Promise<string[]>;
  /** True if something is mounted at `path` itself. */
  isMountPoint(path: string): Promise<boolean>;
  /** Whether what is mounted below `directory` is seen by the mounts of it already. */
  isShared(directory: string): Promise<boolean>;
  /** Mount points of bind mounts of exactly this directory. */
  mountsOf(directory: string): Promise<string[]>;
}

/** A file system of `type`, such as `nfs`, from `source` at `target`. */
export type MountRequest = { type: string; source: string; target: string; options: string[] };

/** Uses mount(8) and umount(8). */
export class ProgramMounter implements Mounter {
  /** Linux has `noswap` since 6.4, and never in a user namespace: the first tmpfs tells. */
  #withoutSwap: string[] = ['noswap'];

  async mountTmpfs(target: string, options: string[], signal?: AbortSignal): Promise<void> {
    const mount = () =>
      this.mount({ type: 'tmpfs', source: 'tmpfs', target, options: [...options, ...this.#withoutSwap] }, signal);
    if (this.#withoutSwap.length === 0) return mount();
    await mount().catch(() => {
      signal?.throwIfAborted();
      this.#withoutSwap = [];
      return mount();
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
    await run('umount', ['-n', '--no-canonicalize', '--lazy', target]);
  }

  async mountsBelow(directory: string): Promise<string[]> {
    const real = await realpathIfThere(directory);
    if (real === undefined) return [];
    const mounts = parseMountsBelow(real, readMountinfo());
    return mounts.map(({ mountPoint }) => mountPoint).reverse();
  }

  async isMountPoint(path: string): Promise<boolean> {
    const real = await realpathIfThere(path);
    return real !== undefined && (await this.mountsBelow(real)).includes(real);
  }

  async isShared(directory: string): Promise<boolean> {
    const real = await realpath(directory);
    const around = readMounts().filter(
      ({ mountPoint }) => mountPoint === '/' || real === mountPoint || real.startsWith(`${mountPoint}/`),
    );
    // the innermost; of several at one place the last
    const { propagation } = around.reduce((a, b) => (b.mountPoint.length >= a.mountPoint.length ? b : a));
    return propagation.some((one) => one.startsWith('shared:'));
  }

  async mountsOf(directory: string): Promise<string[]> {
    const real = await realpath(directory);
    const mounts = readMounts();
    const { dev, ino } = await lstat(real);
    // of the same name in another file system, and on its own mount, it is something else
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

async function run(program: string, args: string[], parent?: AbortSignal): Promise<void> {
  using signal = withTimeout(parent, MOUNT_TIMEOUT_MS, program);
  await runChecked(program, args, { signal });
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
