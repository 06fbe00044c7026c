/** Files that processes have open or mapped, as listed in /proc. */
import { close, open, opendirSync, read, readdirSync, readlinkSync } from 'node:fs';
import { readFile, stat, statfs } from 'node:fs/promises';
import { promisify } from 'node:util';
import { isErrno, PodwrightError, raceAbort, withTimeout } from '@podwright/base';
import { type MountEntry, parseMountinfo } from './mountinfo.ts';

const DELETED = ' (deleted)';
/**
 * open(2)'s O_PATH, which node:fs lacks; has the same value on x86-64 and arm64. Such a descriptor refers to the file without opening it.
 */
const O_PATH = 0o10000000;
const LISTED_AT_ONCE = 256;
const MAPS_BYTES = 1 << 16;
/** A deleted file with more path components than this counts as deep (see `isDeep`). Ordinary files have fewer. */
const MAX_DEPTH = 16;
const BLOCK_BYTES = 512;
/** File system type magic numbers (statfs(2)). */
const OVERLAYFS_MAGIC = 0x794c7630;
const TMPFS_MAGIC = 0x01021994;
const HUGETLBFS_MAGIC = 0x958458f6;
const FILE_SYSTEM_TIMEOUT_MS = 1000;

const [openAsync, readAsync, closeAsync] = [promisify(open), promisify(read), promisify(close)];

/** A deleted file. All links to it in /proc have the same `key`. */
export type DeletedFile = { key: string; device: number; bytes: number };

/**
 * The files held by a process, identified by their links under /proc/PID. Omits links that have disappeared, and returns nothing once the
 * process has exited. Only the asynchronous methods can block on a file system or on the process.
 */
export class OpenFiles {
  /** The /proc directory of the process or of one of its threads; `undefined` if the process has exited. */
  readonly #directory: string | undefined;

  constructor(pid: number) {
    const leader = `/proc/${pid}`;
    const hasLeader = orAbsent(() => readlinkSync(`${leader}/root`)) !== undefined;
    // /proc shows no files for an exited main thread, even if other threads still hold them
    const threads = hasLeader ? [] : (orAbsent(() => readdirSync(`${leader}/task`)) ?? []);
    const thread = threads.find((id) => id !== String(pid));
    this.#directory = hasLeader ? leader : thread && `/proc/${thread}`;
  }

  /**
   * Yields the links to the working directory, the root directory, the executable (which is not necessarily mapped) and the open files.
   * Lists open files in batches, because there can be many.
   */
  *links(): Generator<string> {
    if (this.#directory === undefined) return;
    yield `${this.#directory}/cwd`;
    yield `${this.#directory}/root`;
    yield `${this.#directory}/exe`;
    for (const descriptor of namesIn(`${this.#directory}/fd`)) yield `${this.#directory}/fd/${descriptor}`;
  }

  /**
   * Yields batches of links to mapped files that have probably been deleted (see `isDeleted`). Rejects if the process exits before the end.
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
   * Returns a key that is the same for processes with the same `mounts`: the mount namespace and the root directory, since `mounts` omits
   * mounts outside the root directory.
   */
  viewOfMounts(): string | undefined {
    return orAbsent(() => `${readlinkSync(`${this.#directory}/ns/mnt`)} ${readlinkSync(`${this.#directory}/root`)}`);
  }

  mounts(): Promise<MountEntry[]> {
    return readFile(`${this.#directory}/mountinfo`).then(parseMountinfo, () => []);
  }
}

/**
 * Whether the link's file has probably been deleted. This is just a hint: file names can end in ` (deleted)` too, and the kernel does not
 * show paths longer than a page.
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
 * Whether the link's deleted file is so deep that it might have many deleted parent directories. These exist until the file is closed, but
 * do not appear in any listing.
 */
export function isDeep(link: string): boolean {
  try {
    return readlinkSync(link, 'latin1').split('/').length > MAX_DEPTH;
  } catch (error) {
    return isErrno(error, 'ENAMETOOLONG');
  }
}

/**
 * Looks up the file behind a link for which `isDeleted` is true. Returns `undefined` if the file is not actually deleted, and `missing` if
 * the process no longer has the link.
 */
export async function deletedFile(link: string): Promise<DeletedFile | 'missing' | undefined> {
  const file = await stat(link).catch((error: unknown) => (isErrno(error, 'ENOENT') ? 'missing' : undefined));
  if (file === 'missing') return file;
  // overlayfs reports a link count of 1, not 0, for a deleted directory
  if (file === undefined || file.nlink > (file.isDirectory() ? 1 : 0)) return undefined;
  return { key: `${file.dev} ${file.ino}`, device: file.dev, bytes: file.blocks * BLOCK_BYTES };
}

/**
 * Returns the ID of the mount that contains the link's file. Avoids the process's own fdinfo, where the kernel also lists all locks on the
 * file, which can take a long time.
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
 * All mounts visible to the processes, across mount namespaces. Each combination of namespace and root directory is read only once, until
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
   * Finds a mount by ID, starting with the process that holds a file on it. Returns `undefined` if no process sees the mount, or if the
   * search is stopped early because `mayContinue` resolves to false.
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
      // a process with a different root directory sees only the last part of the mount point, so keep the longest one
      if (known === undefined || known.mountPoint.length < mount.mountPoint.length) this.#mounts.set(mount.id, mount);
    }
  }
}

/** The reads in flight of all `BoundedReads` in this process. `active` are those not known to hang; `hung` counts those that hang. */
export class ReadsOfProcess {
  hung = 0;
  readonly active = new Set<Promise<unknown>>();
}

/** Half of libuv's thread pool: its four threads are shared by the whole process. */
const MAX_READS = 2;

/**
 * Reads from arbitrary file systems on behalf of one pod. A read can hang, for example on a network file system, and then blocks a libuv
 * pool thread. While a read hangs, no other is started for the same pod; while two reads hang, none is started for any pod. Each read must
 * block only one thread at a time.
 */
export class BoundedReads {
  readonly #all: ReadsOfProcess;
  #isActive = false;
  #isHung = false;

  constructor(all = new ReadsOfProcess()) {
    this.#all = all;
  }

  /**
   * Runs the read and returns its result; `undefined` if it fails. Rejects with `deadline_exceeded` while a read of this pod hangs, and
   * with `unavailable` while two reads of other pods hang.
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

  /** Waits up to a second for the read, and returns whether it hangs. Never rejects. */
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

/** Returns the file name in map_files for a line of /proc/PID/maps, in which addresses are padded with zeros. */
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
