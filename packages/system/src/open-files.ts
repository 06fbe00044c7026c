/** Open files of processes, as /proc shows them. */
import { closeSync, openSync, readdirSync, readlinkSync, readSync } from 'node:fs';
import { readFile, stat, statfs } from 'node:fs/promises';
import { EventLoopBudget, isErrno, raceAbort, withTimeout } from '@podwright/base';
import { type MountEntry, parseMountinfo } from './mountinfo.ts';

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
  async deletedFile(descriptor: string): Promise<{ key: string; bytes: number } | undefined> {
    const file = await stat(this.#pathOf(descriptor)).catch(() => undefined);
    if (!file?.isFile() || file.nlink > 0) return undefined;
    return { key: `${file.dev} ${file.ino}`, bytes: file.blocks * BLOCK_BYTES };
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

/** Mounts that processes see, of all their mount namespaces. They are read once, at most so many that there are `maxMounts`. */
export class MountsOfProcesses {
  readonly #pids: readonly number[];
  readonly #maxMounts: number;
  readonly #mounts = new Map<number, MountEntry>();
  readonly #views = new Set<string>();
  #hasReadAll = false;

  constructor(pids: readonly number[], { maxMounts }: { maxMounts: number }) {
    this.#pids = pids;
    this.#maxMounts = maxMounts;
  }

  /** The mount that an open file of a process is in; undefined if no process sees it. */
  async find(id: number, files: OpenFiles): Promise<MountEntry | undefined> {
    if (!this.#mounts.has(id)) await this.#read(files);
    if (!this.#mounts.has(id)) await this.#readAll();
    return this.#mounts.get(id);
  }

  async #readAll(): Promise<void> {
    if (this.#hasReadAll) return;
    const budget = new EventLoopBudget();
    for (const pid of this.#pids) {
      if (budget.isSpent) await budget.renew();
      await this.#read(new OpenFiles(pid));
    }
    this.#hasReadAll = true;
  }

  async #read(files: OpenFiles): Promise<void> {
    const view = files.viewOfMounts();
    if (view === undefined || this.#views.has(view) || this.#mounts.size >= this.#maxMounts) return;
    this.#views.add(view);
    for (const mount of await files.mounts()) {
      const known = this.#mounts.get(mount.id);
      // a process with another root directory sees the mount at a part of its path
      if (known === undefined || known.mountPoint.length < mount.mountPoint.length) this.#mounts.set(mount.id, mount);
    }
  }
}

/**
 * Reads from file systems of any type. One that hangs, as of a network server, blocks one thread of libuv's pool: until its call
 * returns, no others are read.
 */
export class BoundedReads {
  #isHung = false;

  /** The result; undefined if the read fails or hangs. */
  async take<T>(read: () => Promise<T>): Promise<T | undefined> {
    if (this.#isHung) return undefined;
    const result = read().catch(() => undefined);
    using signal = withTimeout(undefined, FILE_SYSTEM_TIMEOUT_MS, 'read a file system');
    try {
      return await raceAbort(result, signal);
    } catch {
      this.#isHung = true;
      void result.then(() => {
        this.#isHung = false;
      });
      return undefined;
    }
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
