import { closeSync, constants, type Dir, fstatSync, lstatSync, opendirSync, openSync, type Stats } from 'node:fs';
import { isErrno } from '@podwright/base';
import { firstPass, nextPass, type Pass } from './tree-count.ts';

/** Number of entries to read at once. The C library reads up to 32 KiB from the kernel, which is about 1000 short names. */
const BATCH_ENTRIES = 1024;
/**
 * If a directory's change time (ctime) is at least this old, the next change is certain to give it a new ctime, because the kernel's clock
 * ticks at least every 10 ms.
 */
export const CLOCK_TICK_MS = 100;
const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
/**
 * Errors from opening or reading a directory that was moved, removed or replaced since it was listed (ENOENT, ENOTDIR, ELOOP, ESTALE), that
 * this process may not open, as on NFS with root_squash (EACCES), or that cannot be opened because the process or the host is out of file
 * descriptors (EMFILE, ENFILE).
 */
const UNREADABLE = ['ENOENT', 'ENOTDIR', 'ELOOP', 'ESTALE', 'EACCES', 'EMFILE', 'ENFILE'];

/** A directory that a walk holds open, so that neither renames nor long paths matter. The owner must close it. */
export class DirectoryVisit {
  readonly #descriptor: number;
  readonly #prefix: Buffer;
  #entries: Dir | undefined;
  #started: { wallMs: number; ctimeMs: number };
  pass: Pass = firstPass();
  /** Number of subdirectories that had vanished when the first listing tried to open them, and have not been found since. */
  missing = 0;
  /** Whether the first walk already counted this directory. The second walk then only looks for subdirectories that were not counted. */
  isCounted = false;
  /** Whether the listing of this directory is paused until the subdirectories listed so far have been visited. */
  isPaused = false;
  readonly stat: Stats;

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
    this.#prefix = Buffer.from(`/proc/self/fd/${descriptor}/`);
    this.stat = fstatSync(descriptor);
    this.#started = { wallMs: Date.now(), ctimeMs: this.stat.ctimeMs };
  }

  close(): void {
    this.#closeEntries();
    closeSync(this.#descriptor);
  }

  /** Returns a path to the entry via the open file descriptor (`/proc/self/fd/N/name`). */
  pathOf(name: Buffer): Buffer {
    return Buffer.concat([this.#prefix, name]);
  }

  /** Returns the entry's lstat; `undefined` if the entry has vanished. */
  statOf(name: Buffer): Stats | undefined {
    return lstatSync(this.pathOf(name), { throwIfNoEntry: false });
  }

  /** Reads up to 1024 entries while `hasRoom` returns true. Calls `meet` for each directory and returns the names of all other entries. */
  read(meet: (directory: Buffer) => void, hasRoom: () => boolean): { files: Buffer[]; isEnd: boolean } {
    const files: Buffer[] = [];
    for (let count = 0; count < BATCH_ENTRIES && hasRoom(); count++) {
      const entry = undefinedIfUnreadable(() => this.#open().readSync());
      if (entry === undefined && fstatSync(this.#descriptor).nlink > 0) this.pass.vanished++;
      if (!entry) return { files, isEnd: true };
      const name = entry.name as unknown as Buffer;
      if (entry.isDirectory()) meet(name);
      else files.push(name);
    }
    return { files, isEnd: false };
  }

  listAgain(): void {
    this.#closeEntries();
    this.#started = { wallMs: Date.now(), ctimeMs: fstatSync(this.#descriptor).ctimeMs };
    this.pass = nextPass(this.pass);
  }

  /**
   * Detects missed subdirectories by the directory's link count, to which each subdirectory adds one (its `..`) on most file systems.
   * `hasMore`: the count implies more subdirectories than this pass has listed. Ignored if the directory has not changed since the pass
   * began: the listing is then complete, and the file system simply counts links differently. `hasLost`: the count has dropped since the
   * directory was opened. `stat` is the directory's current state.
   */
  missedDirectories(): { hasMore: boolean; hasLost: boolean; stat: Stats } {
    const stat = fstatSync(this.#descriptor);
    const { nlink, ctimeMs } = stat;
    const { wallMs, ctimeMs: before } = this.#started;
    const hasChanged = ctimeMs !== before || Math.abs(wallMs - ctimeMs) < CLOCK_TICK_MS;
    return { hasMore: nlink - 2 > this.pass.directories && hasChanged, hasLost: nlink < this.stat.nlink, stat };
  }

  #open(): Dir {
    const options = { encoding: 'buffer' as BufferEncoding, bufferSize: BATCH_ENTRIES };
    this.#entries ??= opendirSync(this.#prefix as unknown as string, options);
    return this.#entries;
  }

  #closeEntries(): void {
    this.#entries?.closeSync();
    this.#entries = undefined;
  }
}

/** Opens a directory; returns `undefined` if the path is not a directory or cannot be opened. */
export function openDirectory(path: Buffer): DirectoryVisit | undefined {
  const descriptor = undefinedIfUnreadable(() => openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  return descriptor === undefined ? undefined : new DirectoryVisit(descriptor);
}

function undefinedIfUnreadable<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (UNREADABLE.some((code) => isErrno(error, code))) return undefined;
    throw error;
  }
}
