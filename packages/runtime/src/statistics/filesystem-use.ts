import { readlink, statfs } from 'node:fs/promises';
import { basename } from 'node:path';
import { type MountEntry, readMounts } from '@podwright/system';

/** A whole file system, and the device that it is on, as `df` names it. */
export type FilesystemUse = { device: string; sizeBytes: number; inodes: number; freeInodes: number };

/** Looks at the file system that a directory is on. What it is on is found out once: of many mounts that takes a while. */
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

/** Source of the mount that `path` is in: the deepest one, and of several on one path the newest. */
export function deviceOf(path: string, mounts: MountEntry[]): string {
  const above = mounts.filter(({ mountPoint }) => mountPoint === '/' || `${path}/`.startsWith(`${mountPoint}/`));
  const depth = Math.max(...above.map(({ mountPoint }) => mountPoint.length));
  return above.findLast(({ mountPoint }) => mountPoint.length === depth)?.source ?? '';
}

/** A block device as people know it, `/dev/sda`; its numbers where the kernel does not name it. */
export async function blockDeviceName({ major, minor }: { major: number; minor: number }): Promise<string> {
  const numbers = `${major}:${minor}`;
  return readlink(`/sys/dev/block/${numbers}`).then(
    (target) => `/dev/${basename(target)}`,
    () => numbers,
  );
}
