/** Open files of processes, as /proc shows them. */
import { closeSync, openSync, readdirSync, readlinkSync, readSync } from 'node:fs';
import { readFile, stat, statfs } from 'node:fs/promises';
import { isErrno, raceAbort, withTimeout } from '@podwright/base';
import { type MountEntry, parseMountinfo } from '@podwright/system/mountinfo';
import type { FileUse } from './file-system-use.ts';

const DELETED = ' (deleted)';
/** Bytes to read of /proc/PID/fdinfo/N: `mnt_id` is in its first lines; a list of locks of any length may follow. */
const FDINFO_BYTES = 256;
const BLOCK_BYTES = 512;
/** The type of an overlay in statfs(2). */
const OVERLAYFS_MAGIC = 0x794c7630;
const FILE_SYSTEM_TIMEOUT_MS = 1000;

/**
 * Descriptors of a process. Closed ones, or an exited process, give empty results. Only `deletedFile` and `fileSystemOf` may wait for a
 * file system.
 */
export class OpenFiles {
  readonly #directory: string;
  readonly descriptors: readonly string[];

  constructor(pid: number) {
    const leader = `/proc/${pid}`;
    const own = namesIn(`${leader}/fd`);
    // /proc shows no descriptors of an ended main thread, but other threads still have them
    const thread = own.length > 0 ? undefined : namesIn(`${leader}/task`).find((id) => id !== String(pid));
    this.#directory = thread === undefined ? leader : `${leader}/task/${thread}`;
    this.descriptors = thread === undefined ? own : namesIn(`${this.#directory}/fd`);
  }

  /** A hint only: a file name may also end like this, and the kernel shows no path that is longer than a page. */
  isDeleted(descriptor: string): boolean {
    try {
      const target = readlinkSync(this.#pathOf(descriptor), 'latin1');
      return target.startsWith('/') && target.endsWith(DELETED);
    } catch (error) {
      return isErrno(error, 'ENAMETOOLONG');
    }
  }

  mountIdOf(descriptor: string): number | undefined {
    const text = orAbsent(() => beginningOf(`${this.#directory}/fdinfo/${descriptor}`)) ?? '';
    const id = /^mnt_id:\s*(\d+)$/m.exec(text)?.[1];
    return id === undefined ? undefined : Number(id);
  }

  /** The deleted file; `key` is the same for all descriptors of a file. */
  async deletedFile(descriptor: string): Promise<{ key: string; use: FileUse } | undefined> {
    const file = await stat(this.#pathOf(descriptor)).catch(() => undefined);
    if (!file?.isFile() || file.nlink > 0) return undefined;
    return { key: `${file.dev} ${file.ino}`, use: { bytes: file.blocks * BLOCK_BYTES, inodes: 1 } };
  }

  async fileSystemOf(descriptor: string): Promise<{ device: number; isOverlay: boolean }> {
    const [{ dev }, { type }] = [await stat(this.#pathOf(descriptor)), await statfs(this.#pathOf(descriptor))];
    return { device: dev, isOverlay: type === OVERLAYFS_MAGIC };
  }

  /** Equal for processes with the same `mounts`, which are those below the process's root directory. */
  viewOfMounts(): string | undefined {
    return orAbsent(() => `${readlinkSync(`${this.#directory}/ns/mnt`)} ${readlinkSync(`${this.#directory}/root`)}`);
  }

  mounts(): Promise<MountEntry[]> {
    return readFile(`${this.#directory}/mountinfo`).then(parseMountinfo, () => []);
  }

  #pathOf(descriptor: string): string {
    return `${this.#directory}/fd/${descriptor}`;
  }
}

let isHung = false;

/**
 * Reads from a file system of any type; undefined if this fails. A file system that hangs, as of a network server, blocks one thread of
 * libuv's pool: until its call returns, others are not read.
 */
export async function unlessHung<T>(read: () => Promise<T>): Promise<T | undefined> {
  if (isHung) return undefined;
  const result = read().catch(() => undefined);
  using signal = withTimeout(undefined, FILE_SYSTEM_TIMEOUT_MS, 'read a file system');
  try {
    return await raceAbort(result, signal);
  } catch {
    isHung = true;
    void result.then(() => {
      isHung = false;
    });
    return undefined;
  }
}

function namesIn(directory: string): string[] {
  return orAbsent(() => readdirSync(directory)) ?? [];
}

function beginningOf(path: string): string {
  const file = openSync(path, 'r');
  try {
    const buffer = Buffer.alloc(FDINFO_BYTES);
    return buffer.toString('latin1', 0, readSync(file, buffer));
  } finally {
    closeSync(file);
  }
}

function orAbsent<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
