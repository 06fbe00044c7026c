import { readlink, statfs } from 'node:fs/promises';
import { basename } from 'node:path';
import { type MountEntry, readMounts } from '@podwright/system';

/** Capacity of an entire file system, and its device name as in `df`. */
export type FilesystemUse = { device: string; sizeBytes: number; inodes: number; freeInodes: number };

/**
 * Reads the capacity of the file system containing a directory. Looks up the device only once, because that is slow on hosts with many
 * mounts.
 */
export class FilesystemOf {
  readonly #path: string;
  #device: string | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  async read(): Promise<FilesystemUse> {
    this.#device ??= deviceOf(this.#path, readMounts());
    const { blocks, bsize, files, ffree } = await statfs(this.#path);
    return { device: this.#device, sizeBytes: blocks * bsize, inodes: files, freeInodes: ffree };
  }
}

/** Returns the source of the mount containing `path`: the deepest mount or, if there are several on that mount point, the newest. */
export function deviceOf(path: string, mounts: MountEntry[]): string {
  const above = mounts.filter(({ mountPoint }) => mountPoint === '/' || `${path}/`.startsWith(`${mountPoint}/`));
  const depth = Math.max(...above.map(({ mountPoint }) => mountPoint.length));
  return above.findLast(({ mountPoint }) => mountPoint.length === depth)?.source ?? '';
}

/** Returns a block device's name, such as `/dev/sda`; `MAJOR:MINOR` if the kernel has no name for it. */
export async function blockDeviceName({ major, minor }: { major: number; minor: number }): Promise<string> {
  const numbers = `${major}:${minor}`;
  return readlink(`/sys/dev/block/${numbers}`).then(
    (target) => `/dev/${basename(target)}`,
    () => numbers,
  );
}
