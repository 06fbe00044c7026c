/** The files that processes hold open or mapped, as /proc shows them. */
import { close, open, opendirSync, read, readdirSync, readlinkSync } from 'node:fs';
import { readFile, stat, statfs } from 'node:fs/promises';
import { promisify } from 'node:util';
import { isErrno, PodwrightError, raceAbort, withTimeout } from '@podwright/base';
import { type MountEntry, parseMountinfo } from './mountinfo.ts';

const DELETED = ' (deleted)';
/** O_PATH of open(2), which node:fs lacks; the same on x86-64 and arm64. Such a descriptor refers to the file without opening it. */
const O_PATH = 0o10000000;
/** Number of directory entries to read at once. */
const LISTED_AT_ONCE = 256;
const MAPS_BYTES = 1 << 16;
/** Maximum number of directories above an ordinary deleted file. */
const MAX_DEPTH = 16;
const BLOCK_BYTES = 512;
/** Magic numbers of file system types in statfs(2). */
const OVERLAYFS_MAGIC = 0x794c7630;
const TMPFS_MAGIC = 0x01021994;
const HUGETLBFS_MAGIC = 0x958458f6;
const FILE_SYSTEM_TIMEOUT_MS = 1000;

const [openAsync, readAsync, closeAsync] = [promisify(open), promisify(read), promisify(close)];

/** A deleted file. All links to one file have the same `key`. */
export type DeletedFile = { key: string; device: number; bytes: number };

/**
 * The files that a process holds, identified by the paths of their links below /proc/PID. Results are empty for links that have
 * disappeared, and after the process has exited. Only the asynchronous methods may wait for a file system or for the process.
 */
export class OpenFiles {
  /** `undefined` if the process has exited. */
  readonly #directory: string | undefined;

  constructor(pid: number) {
    const leader = `/proc/${pid}`;
    const hasLeader = orAbsent(() => readlinkSync(`${leader}/root`)) !== undefined;
    // /proc shows no files of a main thread that has exited, but other threads still hold them
    const threads = hasLeader ? [] : (orAbsent(() => readdirSync(`${leader}/task`)) ?? []);
    const thread = threads.find((id) => id !== String(pid));
    this.#directory = hasLeader ? leader : thread && `/proc/${thread}`;
  }

  /**
   * Yields the links to the working directory, the root directory, the executable (which need not be mapped) and the open files.
   * The open files are listed in batches, as there may be many.
   */
  *links(): Generator<string> {
    if (this.#directory === undefined) return;
    yield `${this.#directory}/cwd`;
    yield `${this.#directory}/root`;
    yield `${this.#directory}/exe`;
    for (const descriptor of namesIn(`${this.#directory}/fd`)) yield `${this.#directory}/fd/${descriptor}`;
  }

  /**
   * Yields, in batches, the links to mapped files that are probably deleted (see `isDeleted`). Rejects if the process exits
   * meanwhile.
   */
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

  /**
   * A key that is equal for processes with the same `mounts`: their mount namespace and root directory. `mounts` only shows mounts
   * below the root directory.
   */
  viewOfMounts(): string | undefined {
    return orAbsent(() => `${readlinkSync(`${this.#directory}/ns/mnt`)} ${readlinkSync(`${this.#directory}/root`)}`);
  }

  mounts(): Promise<MountEntry[]> {
    return readFile(`${this.#directory}/mountinfo`).then(parseMountinfo, () => []);
  }
}

/**
 * Whether the link's file is probably deleted. This is only a hint: a file's name may also end in ` (deleted)`, and the kernel
 * shows no path that is longer than a page.
 */
export function isDeleted(link: string): boolean {
  try {
    const target = readlinkSync(link, 'latin1');
    return target.startsWith('/') && target.endsWith(DELETED);
  } catch (error) {
    return isErrno(error, 'ENAMETOOLONG');
  }
}

/**
 * Whether the link's deleted file is so deep that many of its parent directories may be deleted, too. They exist until the file is
 * closed, and no listing shows them.
 */
export function isDeep(link: string): boolean {
  try {
    return readlinkSync(link, 'latin1').split('/').length > MAX_DEPTH;
  } catch (error) {
    return isErrno(error, 'ENAMETOOLONG');
  }
}

/**
 * Looks up the file of a link for which `isDeleted` is true; `undefined` if it is not deleted after all, `missing` if the process
 * no longer has the link.
 */
export async function deletedFile(link: string): Promise<DeletedFile | 'missing' | undefined> {
  const file = await stat(link).catch((error: unknown) => (isErrno(error, 'ENOENT') ? 'missing' : undefined));
  if (file === 'missing') return file;
  // overlayfs reports a link count of 1 for a deleted directory
  if (file === undefined || file.nlink > (file.isDirectory() ? 1 : 0)) return undefined;
  return { key: `${file.dev} ${file.ino}`, device: file.dev, bytes: file.blocks * BLOCK_BYTES };
}

/**
 * The id of the mount that the link's file is on. The process's own fdinfo would also contain it, but the kernel writes all locks
 * of the descriptor there, which can take a long time.
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

/**
 * The mounts that processes see in all their mount namespaces. Each combination of namespace and root directory is read once, until
 * at least `maxMounts` mounts are known.
 */
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
   * Finds the mount with the id of one of the process's files; `undefined` if no process sees it. The search ends early, without a
   * result, if `mayContinue` resolves to false.
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
      // to a process with another root directory, the mount appears at only the end of its full path
      if (known === undefined || known.mountPoint.length < mount.mountPoint.length) this.#mounts.set(mount.id, mount);
    }
  }
}

/** The running reads of all `BoundedReads` in this process. `hung` counts those that hang, which `active` does not contain. */
export class ReadsOfProcess {
  hung = 0;
  readonly active = new Set<Promise<unknown>>();
}

/** Half of the threads in libuv's pool, which has four for the whole process. */
const MAX_READS = 2;

/**
 * Reads from file systems of any type on behalf of one pod. A read may hang, for example on a network file system, and then blocks
 * a thread of libuv's pool. While a read hangs, no other read is started for the same pod, and while two hang, none for any pod.
 * Each read must block at most one thread at a time.
 */
export class BoundedReads {
  readonly #all: ReadsOfProcess;
  #isActive = false;
  #isHung = false;

  constructor(all = new ReadsOfProcess()) {
    this.#all = all;
  }

  /**
   * Runs the read and returns its result; `undefined` if it fails. Rejects with `deadline_exceeded` while a read of this pod hangs,
   * and with `unavailable` while reads of two other pods hang.
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

  /** Waits for the read for up to a second, and returns whether it hangs. Never rejects. */
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

/** The name below map_files for a line of /proc/PID/maps, which, unlike map_files, pads addresses with zeros. */
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
