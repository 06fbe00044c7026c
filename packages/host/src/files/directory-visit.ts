import { closeSync, constants, type Dir, fstatSync, lstatSync, opendirSync, openSync, type Stats } from 'node:fs';
import { isErrno } from '@podwright/base';
import { firstPass, nextPass, type Pass } from './tree-count.ts';

/** Entries to read at once. The C library reads up to 32 KiB from the kernel, which are some 1000 short names. */
const BATCH_ENTRIES = 1024;
/** A change time that is older than this cannot hide a later change: clocks of kernels tick at least every 10 ms. */
const CLOCK_TICK_MS = 100;
const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
/** Errors of a directory that was moved, removed or replaced since its listing, or for which no descriptor is free. */
const UNREADABLE = ['ENOENT', 'ENOTDIR', 'ELOOP', 'ESTALE', 'EACCES', 'EMFILE', 'ENFILE'];

/** An open directory of a walk, for which renames and the length of its path are irrelevant. The owner must close it. */
export class DirectoryVisit {
  readonly #descriptor: number;
  readonly #prefix: Buffer;
  #entries: Dir | undefined;
  #started: { wallMs: number; ctimeMs: number };
  pass: Pass = firstPass();
  /** How many subdirectories vanished in the first pass, and were not found since. */
  missing = 0;
  /** Whether its listing waits for the visits of its children. */
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

  /** A path of an entry. */
  pathOf(name: Buffer): Buffer {
    return Buffer.concat([this.#prefix, name]);
  }

  /** `undefined` if the entry has vanished. */
  statOf(name: Buffer): Stats | undefined {
    return lstatSync(this.pathOf(name), { throwIfNoEntry: false });
  }

  /** Reads some entries, as long as `hasRoom` returns true. Calls `meet` for each directory, and returns the other names. */
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
   * Whether it has more subdirectories than this pass has listed, by its count of links: most file systems count the `..` of each. If
   * it did not change meanwhile, the listing is correct, and the file system counts something else.
   */
  hidesDirectories(): boolean {
    const { nlink, ctimeMs } = fstatSync(this.#descriptor);
    if (nlink - 2 <= this.pass.directories) return false;
    const { wallMs, ctimeMs: before } = this.#started;
    return ctimeMs !== before || Math.abs(wallMs - ctimeMs) < CLOCK_TICK_MS;
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

/** Opens a directory; `undefined` if it is none or cannot be opened. */
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
