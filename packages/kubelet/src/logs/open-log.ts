import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, type Stats } from 'node:fs';
import { isErrno } from '@podwright/base';
import { followLink } from './log-link.ts';
import { readAt, type Tail } from './log-tail.ts';
import { type EntryQuery, EntryText } from './log-text.ts';

/** A file is read in pieces of this length. */
export const CHUNK_BYTES = 64 << 10;

/** A file of a log that is being read, and how far. */
export interface LogFile {
  /**
   * The selected text of the whole entries from where the last call stopped to the present end. What a file has grown by (`hasChanged`)
   * is in memory, so that reading it takes less time than having a thread do so.
   */
  text(signal: AbortSignal, hint?: { hasChanged: boolean }): AsyncGenerator<Buffer>;
  /** The selected text of an entry at the end that lacks its newline. */
  rest(): Buffer;
  close(): void;
}

/** `end`: nothing is read from there on. */
export type PlainLogInput = { query: EntryQuery; opened: OpenedFile; begin?: Tail; end?: number };

/** A file that is not compressed. */
export class PlainLog implements LogFile {
  readonly inode: number;
  readonly #file: number;
  readonly #end: number;
  readonly #text: EntryText;
  #offset: number;
  /** What stands at the offset, if that was read already. */
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
      if (chunk.length < CHUNK_BYTES) return; // what comes meanwhile is for the next call
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

  /** The first bytes of the file. */
  head(sizeBytes: number): Buffer {
    const buffer = Buffer.alloc(sizeBytes);
    return buffer.subarray(0, readSync(this.#file, buffer, 0, sizeBytes, 0));
  }

  /** True when the path names another file by now, or this one was truncated. */
  isReplacedAt(path: string): boolean {
    const named = namedFile(path);
    return named !== undefined && (named.ino !== this.inode || named.size < this.#offset);
  }

  close(): void {
    closeSync(this.#file);
  }
}

export type OpenedFile = { file: number; stats: Stats };

/** The regular file that a path names, as `openRegular` would open it. */
function namedFile(path: string): Stats | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  const named = stats?.isSymbolicLink() ? lstatSync(followLink(path), { throwIfNoEntry: false }) : stats;
  return named?.isFile() ? named : undefined;
}

/**
 * Opens a file that is there and regular: a pod that may write to the directory of logs must neither make us wait for a FIFO, nor
 * show us a file of the host by a link. A link to a log of Docker's is followed. The look before spares a FIFO or a device the
 * opening, which its writer or driver would notice; the one after it is what counts. Nothing of this waits for a disk for longer than
 * looking up a name does, so that no thread is asked.
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
