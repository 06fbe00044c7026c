import { constants, type Stats } from 'node:fs';
import {
  chmod,
  copyFile,
  lchown,
  link,
  lstat,
  lutimes,
  mkdir,
  open,
  readdir,
  readlink,
  symlink,
} from 'node:fs/promises';
import { PRIVATE_DIRECTORY, PRIVATE_FILE } from '@podwright/base';
import { hasErrno, type System } from '@podwright/system';
import { fileTime } from '../file-time.ts';

const COPY_BYTES = 1 << 20;

/**
 * Copies a directory tree with everything that a layer can contain: owners, modes, times, extended attributes, hard links, devices, pipes
 * and holes. Shares blocks (reflink) if the file system supports it. `to` must not exist; on failure, the caller removes it.
 */
export class TreeCopier {
  readonly #system: System;
  /** The first copy of each file with multiple hard links, by inode number. */
  readonly #linked = new Map<number, Buffer>();

  constructor(system: System) {
    this.#system = system;
  }

  async copy(from: Buffer, to: Buffer): Promise<void> {
    const stat = await lstat(from);
    if (stat.isDirectory()) return this.#copyDirectory(from, to, stat);
    const twin = stat.nlink > 1 ? this.#linked.get(stat.ino) : undefined;
    if (twin !== undefined) return link(twin, to);
    if (stat.nlink > 1) this.#linked.set(stat.ino, to);
    if (stat.isFile()) await copyContent(this.#system, { from, to, stat });
    else if (stat.isSymbolicLink()) await symlink(await readlink(from, { encoding: 'buffer' }), to);
    else if (stat.isFIFO()) this.#system.makeFifo(to, stat.mode);
    else if (!stat.isSocket()) this.#makeDevice(to, stat);
    if (!stat.isSocket()) await this.#copyAttributes(from, to, stat); // sockets are skipped: without its process a socket is useless
  }

  async #copyDirectory(from: Buffer, to: Buffer, stat: Stats): Promise<void> {
    await mkdir(to, PRIVATE_DIRECTORY);
    for (const name of await readdir(from, { encoding: 'buffer' })) {
      const child = Buffer.concat([Buffer.from('/'), name]);
      await this.copy(Buffer.concat([from, child]), Buffer.concat([to, child]));
    }
    await this.#copyAttributes(from, to, stat);
  }

  #makeDevice(to: Buffer, stat: Stats): void {
    const major = ((stat.rdev >>> 8) & 0xfff) >>> 0;
    const minor = ((stat.rdev & 0xff) | ((stat.rdev >>> 12) & 0xfff00)) >>> 0;
    this.#system.makeDevice(to, { type: stat.isBlockDevice() ? 'block' : 'char', major, minor }, stat.mode);
  }

  async #copyAttributes(from: Buffer, to: Buffer, stat: Stats): Promise<void> {
    await lchown(to, stat.uid, stat.gid);
    this.#copyXattrs(from, to); // after chown, because chown clears capabilities
    if (!stat.isSymbolicLink()) await chmod(to, stat.mode & 0o7777);
    await lutimes(to, fileTime(stat.atimeMs / 1000), fileTime(stat.mtimeMs / 1000));
  }

  #copyXattrs(from: Buffer, to: Buffer): void {
    for (const name of this.#system.listXattrs(from)) {
      const value = this.#system.getXattr(from, name);
      if (value !== undefined) this.#system.setXattr(to, name, value);
    }
  }
}

type FileCopy = { from: Buffer; to: Buffer; stat: Stats };

/** Errors from file systems without reflink support. */
const NO_REFLINK = ['ENOTSUP', 'EOPNOTSUPP', 'EXDEV', 'EINVAL', 'ENOSYS', 'ENOTTY'];

async function copyContent(system: System, { from, to, stat }: FileCopy): Promise<void> {
  const isSparse = stat.blocks * 512 < stat.size;
  if (!isSparse) return copyFile(from, to, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
  try {
    await copyFile(from, to, constants.COPYFILE_FICLONE_FORCE | constants.COPYFILE_EXCL);
  } catch (error) {
    if (!NO_REFLINK.some((name) => hasErrno(error, name))) throw error;
    await copySparse(system, { from, to, stat });
  }
}

async function copySparse(system: System, { from, to, stat }: FileCopy): Promise<void> {
  await using source = await open(from);
  await using target = await open(to, 'w', PRIVATE_FILE);
  const buffer = Buffer.allocUnsafe(COPY_BYTES);
  for (let part = system.nextData(source.fd, 0); part !== undefined; part = system.nextData(source.fd, part.end)) {
    for (let at = part.start; at < part.end; ) {
      const { bytesRead } = await source.read(buffer, 0, Math.min(buffer.length, part.end - at), at);
      if (bytesRead === 0) break;
      at += (await target.write(buffer, 0, bytesRead, at)).bytesWritten;
    }
  }
  await target.truncate(stat.size);
}
