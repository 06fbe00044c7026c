/** Files that processes hold, as /proc shows them. */
import { close, open, opendirSync, read, readdirSync, readlinkSync } from 'node:fs';
import { readFile, stat, statfs } from 'node:fs/promises';
import { promisify } from 'node:util';
import { isErrno, PodwrightError, raceAbort, withTimeout } from '@podwright/base';
import { type MountEntry, parseMountinfo } from './mountinfo.ts';

const DELETED = ' (deleted)';
/** O_PATH of open(2), which node:fs lacks; the same on x86-64 and arm64. The descriptor names the file without opening it. */
const O_PATH = 0o10000000;
/** Number of directory entries to read at once. */
const LISTED_AT_ONCE = 256;
const MAPS_BYTES = 1 << 16;
/** Number of directories above an ordinary deleted file, at most. */
const MAX_DEPTH = 16;
const BLOCK_BYTES = 512;
/** Types of file systems in statfs(2). */
const OVERLAYFS_MAGIC = 0x794c7630;
const TMPFS_MAGIC = 0x01021994;
const HUGETLBFS_MAGIC = 0x958458f6;
const FILE_SYSTEM_TIMEOUT_MS = 1000;

const [openAsync, readAsync, closeAsync] = [promisify(open), promisify(read), promisify(close)];

/** A deleted file. `key` is the same for all links to it. */
export type DeletedFile = { key: string; device: number; bytes: number };

/**
 * Files that a process holds, by the paths of its links in /proc. Links that the process no longer has, and an exited process, give empty
 * results. Only asynchronous methods may wait for a file system or for the process.
 */
export class OpenFiles {
  /** `undefined` if the process has exited. */
  readonly #directory: string | undefined;

  constructor(pid: number) {
    const leader = `/proc/${pid}`;
    const hasLeader = orAbsent(() => readlinkSync(`${leader}/root`)) !== undefined;
    // /proc shows no files of an ended main thread, but other threads still have them
    const threads = hasLeader ? [] : (orAbsent(() => readdirSync(`${leader}/task`)) ?? []);
    const thread = threads.find((id) => id !== String(pid));
    this.#directory = hasLeader ? leader : thread && `/proc/${thread}`;
  }

  /**
   * Links to the working directory, the root directory, the program, which need not be mapped, and the open files, which are listed in
   * parts, as there may be many.
   */
  *links(): Generator<string> {
    if (this.#directory === undefined) return;
    yield `${this.#directory}/cwd`;
    yield `${this.#directory}/root`;
    yield `${this.#directory}/exe`;
    for (const descriptor of namesIn(`${this.#directory}/fd`)) yield `${this.#directory}/fd/${descriptor}`;
  }

  /** Links to mapped files, in parts, if they are deleted according to the hint of `isDeleted`. */
  async *deletedMappings(): AsyncGenerator<string[]> {
    if (this.#directory === undefined) return;
    const maps = await openAsync(`${this.#directory}/maps`, 'r');
    try {
      const buffer = Buffer.alloc(MAPS_BYTES);
      for (let rest = ''; ; ) {
        const { bytesRead } = await readAsync(maps, buffer, 0, MAPS_BYTES, null);
        if (bytesRead === 0) return;
        const lines = (rest + buffer.toString('latin1', 0, bytesRead)).split('\n');
        rest = lines.pop()!;
        yield lines
          .filter((line) => line.endsWith(DELETED))
          .map((line) => `${this.#directory}/map_files/${mappedRange(line)}`);
      }
    } finally {
      await closeAsync(maps);
    }
  }

  /** Equal for processes with the same `mounts`, which are those below the process's root directory. */
  viewOfMounts(): string | undefined {
    return orAbsent(() => `${readlinkSync(`${this.#directory}/ns/mnt`)} ${readlinkSync(`${this.#directory}/root`)}`);
  }

  mounts(): Promise<MountEntry[]> {
    return readFile(`${this.#directory}/mountinfo`).then(parseMountinfo, () => []);
  }
}

/** A hint only: a file name may also end like this, and the kernel shows no path that is longer than a page. */
export function isDeleted(link: string): boolean {
  try {
    const target = readlinkSync(link, 'latin1');
    return target.startsWith('/') && target.endsWith(DELETED);
  } catch (error) {
    return isErrno(error, 'ENAMETOOLONG');
  }
}

/**
 * Whether the deleted file of the link is so deep that many directories may be removed with it: they exist until the file is closed, and
 * nothing lists them.
 */
export function isDeep(link: string): boolean {
  try {
    return readlinkSync(link, 'latin1').split('/').length > MAX_DEPTH;
  } catch (error) {
    return isErrno(error, 'ENAMETOOLONG');
  }
}

/** The file of a link with the hint of `isDeleted`; `undefined` if it is not deleted, and `missing` if the process no longer has the link. */
export async function deletedFile(link: string): Promise<DeletedFile | 'missing' | undefined> {
  const file = await stat(link).catch((error: unknown) => (isErrno(error, 'ENOENT') ? 'missing' : undefined));
  if (file === 'missing') return file;
  // overlayfs reports one link for a deleted directory
  if (file === undefined || file.nlink > (file.isDirectory() ? 1 : 0)) return undefined;
  return { key: `${file.dev} ${file.ino}`, device: file.dev, bytes: file.blocks * BLOCK_BYTES };
}

/**
 * The mount of the link's file. The process's own fdinfo would also have it, but the kernel writes all locks of the descriptor into that,
 * which can take long.
 */
export async function mountIdOf(link: string): Promise<number | undefined> {
  const file = await openAsync(link, O_PATH);
  try {
    const id = /^mnt_id:\s*(\d+)$/m.exec(await readFile(`/proc/self/fdinfo/${file}`, 'latin1'))?.[1];
    return id === undefined ? undefined : Number(id);
  } finally {
    await closeAsync(file);
  }
}

export type FileSystemKind = 'overlay' | 'memory' | 'other';

export async function fileSystemKind(link: string): Promise<FileSystemKind> {
  const { type } = await statfs(link);
  if (type === OVERLAYFS_MAGIC) return 'overlay';
  return type === TMPFS_MAGIC || type === HUGETLBFS_MAGIC ? 'memory' : 'other';
}

/** Mounts that processes see, of all their mount namespaces. They are read once, at most so many that there are `maxMounts`. */
export class MountsOfProcesses {
  readonly #pids: readonly number[];
  readonly #maxMounts: number;
  readonly #mounts = new Map<number, MountEntry>();
  readonly #views = new Set<string>();
  #processesRead = 0;

  constructor(pids: readonly number[], { maxMounts }: { maxMounts: number }) {
    this.#pids = pids;
    this.#maxMounts = maxMounts;
  }

  /**
   * The mount that a file of a process is in; undefined if no process sees it. The search ends early, without a result, if `mayContinue`
   * resolves with false.
   */
  async find(id: number, files: OpenFiles, mayContinue: () => Promise<boolean>): Promise<MountEntry | undefined> {
    if (!this.#mounts.has(id)) await this.#read(files);
    while (!this.#mounts.has(id) && this.#processesRead < this.#pids.length && (await mayContinue()))
      await this.#read(new OpenFiles(this.#pids[this.#processesRead++]!));
    return this.#mounts.get(id);
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

/** Reads of all `BoundedReads` of a process: the number of hung ones, and the others. */
export class ReadsOfProcess {
  hung = 0;
  readonly active = new Set<Promise<unknown>>();
}

/** Libuv's pool has four threads for all of the process. */
const MAX_READS = 2;

/**
 * Reads from file systems of any type, for one pod. A read that hangs, as of a network server, blocks one thread of libuv's pool: until
 * it returns, no others are made for the pod, and with two of them none at all. A read must block at most one thread at a time.
 */
export class BoundedReads {
  readonly #all: ReadsOfProcess;
  #isActive = false;
  #isHung = false;

  constructor(all = new ReadsOfProcess()) {
    this.#all = all;
  }

  /**
   * The result; undefined if the read fails. Rejects with `deadline_exceeded` while a read of the pod hangs, and with `unavailable` while
   * those of two other pods do.
   */
  async take<T>(read: () => Promise<T>): Promise<T | undefined> {
    const { active } = this.#all;
    this.#rejectIfHung();
    while (this.#isActive || this.#all.hung + active.size >= MAX_READS) {
      await Promise.race(active);
      this.#rejectIfHung();
    }
    const result = read().catch(() => undefined);
    this.#isActive = true;
    const answer = this.#untilHung(result);
    active.add(answer);
    const isHung = await answer;
    active.delete(answer);
    this.#isActive = false;
    if (isHung) this.#rejectIfHung();
    return await result;
  }

  #rejectIfHung(): void {
    if (this.#isHung) throw new PodwrightError('deadline_exceeded', "a read of the pod's files hangs");
    if (this.#all.hung >= MAX_READS) throw new PodwrightError('unavailable', "reads of other pods' files hang");
  }

  /** Whether the read hangs. Never rejects. */
  async #untilHung(result: Promise<unknown>): Promise<boolean> {
    using signal = withTimeout(undefined, FILE_SYSTEM_TIMEOUT_MS, 'read a file system');
    try {
      await raceAbort(result, signal);
      return false;
    } catch {
      this.#isHung = true;
      this.#all.hung++;
      void result.then(() => {
        this.#isHung = false;
        this.#all.hung--;
      });
      return true;
    }
  }
}

function* namesIn(path: string): Generator<string> {
  const directory = orAbsent(() => opendirSync(path, { bufferSize: LISTED_AT_ONCE }));
  if (directory === undefined) return;
  try {
    const next = () => orAbsent(() => directory.readSync())?.name;
    for (let name = next(); name !== undefined; name = next()) yield name;
  } finally {
    directory.closeSync();
  }
}

/** The name in map_files of a line of /proc/PID/maps, which pads addresses with zeros. */
function mappedRange(line: string): string {
  const [begin, end] = line.slice(0, line.indexOf(' ')).split('-');
  return `${withoutPadding(begin!)}-${withoutPadding(end!)}`;
}

const withoutPadding = (address: string) => address.replace(/^0+(?=.)/, '');

function orAbsent<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
