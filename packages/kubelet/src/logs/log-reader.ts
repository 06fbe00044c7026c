import {
  closeSync,
  constants,
  type FSWatcher,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  type Stats,
  watch,
} from 'node:fs';
import { dirname } from 'node:path';
import { isErrno, PodwrightError, sleep } from '@podwright/base';
import { LOG_SAFETY_INTERVAL_MS, MAX_LOG_LINE_BYTES, MIN_LOG_INTERVAL_MS } from '../limits.ts';
import { entryParts } from './cri-log.ts';
import { isDockerLine, parseDockerLine } from './docker-log.ts';
import type { LogStream } from './log-entry.ts';
import { followLink } from './log-link.ts';
import { findTail, readAt, type Tail } from './log-tail.ts';

export type LogQuery = {
  /** Goes on as the file grows, through rotations, until `ended` aborts and everything is read. */
  follow?: boolean;
  /** Only the last so many lines of what is there. */
  tailLines?: number;
  /** Only entries at or after this time. */
  sinceMs?: number;
  /** Each line begins with its time. */
  timestamps?: boolean;
  /** Ends after so many bytes of output. */
  limitBytes?: number;
  /** Only what was written to this stream. */
  stream?: LogStream;
};

/** `ended` aborts when the container will write no more; `signal` when the reader has left. */
export type LogEnd = { ended: AbortSignal; signal: AbortSignal };

const NEWLINE = 0x0a;
const CHUNK_BYTES = 64 << 10;

/**
 * Reads a container's log file as text, a buffer for each piece of the file that was read. A missing file is empty as long as the
 * container runs, else `not_found`.
 */
export function readLog(path: string, query: LogQuery, until: LogEnd): AsyncGenerator<Buffer> {
  const text = readText(path, query, until);
  return query.limitBytes === undefined ? text : limitText(text, query.limitBytes);
}

/** The first bytes of a log's text. */
export async function* limitText(text: AsyncIterable<Buffer>, limitBytes: number): AsyncGenerator<Buffer> {
  let leftBytes = limitBytes;
  for await (const chunk of text) {
    yield chunk.subarray(0, leftBytes);
    leftBytes -= chunk.length;
    if (leftBytes <= 0) return;
  }
}

/** What of lines of the file is wanted, as text, which is never longer than they are. Only the last one may lack its newline. */
function renderLines(lines: Buffer, query: LogQuery): Buffer {
  const text = Buffer.allocUnsafe(lines.length);
  let length = 0;
  for (let start = 0, end = 0; start < lines.length; start = end + 1) {
    end = lineEnd(lines, start);
    if (isDockerLine(lines, start)) {
      length += renderDockerLine(lines.subarray(start, end), text.subarray(length), query);
      continue;
    }
    const entry = entryParts(lines, start, end);
    if (entry === undefined || !isWanted(entry, () => lines.toString('latin1', start, entry.timeEnd), query)) continue;
    if (query.timestamps) length += lines.copy(text, length, start, entry.timeEnd + 1);
    length += lines.copy(text, length, entry.textStart, entry.partial ? end : Math.min(end + 1, lines.length));
  }
  return text.subarray(0, length);
}

function lineEnd(lines: Buffer, start: number): number {
  const newline = lines.indexOf(NEWLINE, start);
  return newline < 0 ? lines.length : newline;
}

/** Writes what is wanted of one of Docker's lines and returns its length. */
function renderDockerLine(line: Buffer, text: Buffer, query: LogQuery): number {
  const entry = parseDockerLine(line);
  if (entry === undefined || !isWanted(entry, () => entry.time, query)) return 0;
  let length = query.timestamps ? text.write(`${entry.time} `, 0) : 0;
  length += entry.text.copy(text, length);
  return entry.partial ? length : text.writeUInt8(NEWLINE, length);
}

function isWanted({ stream }: { stream: LogStream }, time: () => string, query: LogQuery): boolean {
  if (query.stream !== undefined && stream !== query.stream) return false;
  return query.sinceMs === undefined || !(Date.parse(time()) < query.sinceMs);
}

async function* readText(path: string, query: LogQuery, until: LogEnd): AsyncGenerator<Buffer> {
  await using changes = query.follow ? new FileChanges(path, until) : undefined;
  const { follow = false } = query;
  let { tailLines } = query;
  let file: OpenLog | undefined;
  let wasFound = false;
  try {
    for (let hasChanged = false; ; hasChanged = true) {
      // Asked before reading: what was written before the end is read after this.
      const last = !follow || until.ended.aborted;
      file ??= await openLog(path, { ...query, tailLines }, until.signal);
      if (file !== undefined) {
        wasFound = true;
        tailLines = undefined; // a file that takes its place is all new
        yield* file.text(until.signal, { hasChanged });
      }
      if (until.signal.aborted) return;
      if (follow && file?.rotated()) {
        yield* file.text(until.signal); // what came after the last look: a slow reader may have let much come
        const next = await openLog(path, { ...query, tailLines }, until.signal);
        file.close();
        file = next;
        if (file !== undefined) continue;
      }
      if (last) break;
      await changes?.next();
    }
    const rest = file?.rest();
    if (rest !== undefined && rest.length > 0) yield rest;
    if (!wasFound) throw new PodwrightError('not_found', `read the log ${path}: there is no such file`);
  } finally {
    file?.close();
  }
}

async function openLog(path: string, query: LogQuery, signal: AbortSignal): Promise<OpenLog | undefined> {
  const { tailLines, follow } = query;
  const opened = openRegular(path);
  if (opened === undefined) return undefined;
  const { file, stats } = opened;
  try {
    const { ino: inode, size } = stats;
    const end = Number.POSITIVE_INFINITY;
    if (tailLines === undefined) return new OpenLog(path, query, { file, inode, begin: { offset: 0 }, end });
    const begin = await findTail(file, { size, lines: tailLines, signal });
    // The lines were counted up to this size: what is written from now on would be more of them.
    return new OpenLog(path, query, { file, inode, begin, end: follow ? end : size });
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

/** A log file that is being read, and how far. */
class OpenLog {
  readonly #path: string;
  readonly #query: LogQuery;
  readonly #file: number;
  readonly #inode: number;
  /** Nothing is read from here on. */
  readonly #end: number;
  #offset: number;
  /** What stands at the offset, if that was read already. */
  #known: Buffer | undefined;
  #rest: Buffer = Buffer.alloc(0);

  constructor(
    path: string,
    query: LogQuery,
    { file, inode, begin, end }: { file: number; inode: number; begin: Tail; end: number },
  ) {
    this.#path = path;
    this.#query = query;
    this.#file = file;
    this.#inode = inode;
    this.#end = end;
    this.#offset = begin.offset;
    this.#known = begin.bytes;
  }

  /**
   * What is wanted of the whole lines from where the last call stopped to the present end. What the file has grown by is in memory, so
   * that reading it takes less time than having a thread do so.
   */
  async *text(signal: AbortSignal, { hasChanged } = { hasChanged: false }): AsyncGenerator<Buffer> {
    for (let isInMemory = hasChanged; !signal.aborted; isInMemory = false) {
      const chunk = this.#known ?? (isInMemory ? this.#readNow() : await this.#read());
      this.#known = undefined;
      if (chunk.length === 0) return;
      this.#offset += chunk.length;
      const text = renderLines(this.#take(chunk), this.#query);
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

  #take(chunk: Buffer): Buffer {
    const data = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const end = data.lastIndexOf(NEWLINE) + 1;
    this.#rest = data.length - end > MAX_LOG_LINE_BYTES ? Buffer.alloc(0) : data.subarray(end);
    return data.subarray(0, end);
  }

  /** What is wanted of what follows the last newline: the entry of a runtime that was killed, or had no space, in the middle of it. */
  rest(): Buffer {
    return renderLines(this.#rest, this.#query);
  }

  /** True when the path names another file by now. */
  rotated(): boolean {
    const named = namedFile(this.#path);
    return named !== undefined && (named.ino !== this.#inode || named.size < this.#offset);
  }

  close(): void {
    closeSync(this.#file);
  }
}

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
function openRegular(path: string): { file: number; stats: Stats } | undefined {
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

/** Waits for changes in the directory of a file: growth and rotation alike. */
class FileChanges implements AsyncDisposable {
  readonly #watcher: FSWatcher | undefined;
  readonly #stop: AbortSignal;
  #changed = false;
  #lastAtMs = 0;
  #wake: (() => void) | undefined;

  constructor(path: string, { ended, signal }: LogEnd) {
    this.#stop = AbortSignal.any([ended, signal]);
    this.#stop.addEventListener('abort', () => this.#wake?.(), { once: true });
    try {
      this.#watcher = watch(dirname(followLink(path)), () => {
        this.#changed = true;
        this.#wake?.();
      });
      this.#watcher.on('error', () => undefined);
    } catch {
      // The directory is not there yet, or inotify is used up: the safety interval does.
    }
  }

  /** Resolves at the next change (or the last one not waited for), at the container's end, or after the safety interval. */
  async next(): Promise<void> {
    const tooSoonMs = this.#lastAtMs + MIN_LOG_INTERVAL_MS - performance.now();
    if (tooSoonMs > 0) await sleep(tooSoonMs, this.#stop).catch(() => undefined);
    if (!this.#changed && !this.#stop.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, LOG_SAFETY_INTERVAL_MS);
      this.#wake = resolve;
      await promise;
      clearTimeout(timer);
    }
    this.#changed = false;
    this.#lastAtMs = performance.now();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#watcher?.close();
  }
}
