import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, type Stats } from 'node:fs';
import { isErrno } from '@podwright/base';
import { followLink } from './log-link.ts';
import { readAt, type Tail } from './log-tail.ts';
import { type EntryQuery, EntryText } from './log-text.ts';

/** Size of the chunks in which log files are read. */
export const CHUNK_BYTES = 64 << 10;

/** A log file being read, and the current offset. */
export interface LogFile {
  /**
   * Yields the selected text of entries from the end of the previous call to the current end of the file. `hasChanged` means that the file
   * has just grown: the new bytes are then in the page cache, so reading them synchronously is faster than using the thread pool.
   */
  text(signal: AbortSignal, hint?: { hasChanged: boolean }): AsyncGenerator<Buffer>;
  /** Returns the selected text of an unfinished entry at the end. */
  rest(): Buffer;
  close(): void;
}

/** `end`: the offset at which to stop reading; defaults to the end of the file. */
export type PlainLogInput = { query: EntryQuery; opened: OpenedFile; begin?: Tail; end?: number };

/** An uncompressed log file. */
export class PlainLog implements LogFile {
  readonly inode: number;
  readonly #file: number;
  readonly #end: number;
  readonly #text: EntryText;
  #offset: number;
  /** The file's bytes at the current offset, if already read. */
  #known: Buffer | undefined;

  constructor({
    query,
    opened: { file, stats },
    begin = { offset: 0 },
    end = Number.POSITIVE_INFINITY,
  }: PlainLogInput) {
    this.inode = stats.ino;
    this.#file = file;
    this.#end = end;
    this.#text = new EntryText(query);
    this.#offset = begin.offset;
    this.#known = begin.bytes;
  }

  async *text(signal: AbortSignal, { hasChanged } = { hasChanged: false }): AsyncGenerator<Buffer> {
    for (let isInMemory = hasChanged; !signal.aborted; isInMemory = false) {
      const chunk = this.#known ?? (isInMemory ? this.#readNow() : await this.#read());
      this.#known = undefined;
      if (chunk.length === 0) return;
      this.#offset += chunk.length;
      const text = this.#text.of(chunk);
      if (text.length > 0) yield text;
      if (chunk.length < CHUNK_BYTES) return; // later writes are for the next call
    }
  }

  #readNow(): Buffer {
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    return buffer.subarray(0, readSync(this.#file, buffer, 0, this.#wantedBytes(), this.#offset));
  }

  async #read(): Promise<Buffer> {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    const { bytesRead } = await readAt(this.#file, chunk, 0, this.#wantedBytes(), this.#offset);
    return chunk.subarray(0, bytesRead);
  }

  #wantedBytes(): number {
    return Math.min(CHUNK_BYTES, this.#end - this.#offset);
  }

  rest(): Buffer {
    return this.#text.rest();
  }

  head(sizeBytes: number): Buffer {
    const buffer = Buffer.alloc(sizeBytes);
    return buffer.subarray(0, readSync(this.#file, buffer, 0, sizeBytes, 0));
  }

  /** Whether the path is now a different file, or this file has been truncated. */
  isReplacedAt(path: string): boolean {
    const named = namedFile(path);
    return named !== undefined && (named.ino !== this.inode || named.size < this.#offset);
  }

  close(): void {
    closeSync(this.#file);
  }
}

export type OpenedFile = { file: number; stats: Stats };

/** Returns the stats of the regular file that `openRegular` would open; `undefined` if there is none. */
function namedFile(path: string): Stats | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  const named = stats?.isSymbolicLink() ? lstatSync(followLink(path), { throwIfNoEntry: false }) : stats;
  return named?.isFile() ? named : undefined;
}

/**
 * Opens a regular file, if there is one. A pod with write access to the log directory must not be able to block the reader with a FIFO or
 * expose a host file through a symlink, but symlinks to Docker logs are followed. The check before opening avoids side effects on a FIFO's
 * writer or a device driver; the check afterwards is the authoritative one. Synchronous, because none of this takes longer than a path
 * lookup.
 */
export function openRegular(path: string): OpenedFile | undefined {
  const file = namedFile(path) && openIfThere(path);
  if (file === undefined) return undefined;
  const stats = fstatSync(file);
  if (stats.isFile()) return { file, stats };
  closeSync(file);
  return undefined;
}

function openIfThere(path: string, mayFollow = true): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch (error) {
    if (isErrno(error, 'ELOOP')) return mayFollow ? openIfThere(followLink(path), false) : undefined;
    if (isErrno(error, 'ENOENT') || isErrno(error, 'ENXIO')) return undefined;
    throw error;
  }
}
