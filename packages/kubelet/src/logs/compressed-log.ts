import { closeSync } from 'node:fs';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { entryParts } from './cri-log.ts';
import { readAt, type TailSearch } from './log-tail.ts';
import { type EntryQuery, EntryText, NEWLINE } from './log-text.ts';
import { CHUNK_BYTES, type LogFile, type OpenedFile } from './open-log.ts';

/** A rotated, gzip-compressed log. Decompressed in chunks, never as a whole. */
export class CompressedLog implements LogFile {
  readonly #file: number;
  readonly #query: EntryQuery;
  readonly #text: EntryText;
  #isRead = false;
  #skipLines = 0;

  constructor({ query, opened: { file } }: { query: EntryQuery; opened: OpenedFile }) {
    this.#file = file;
    this.#query = query;
    this.#text = new EntryText(query);
  }

  /** Selects the last `lines` lines, counted as in `findTail`. Returns the value of `Tail.before`. */
  async showLast({ lines, isContinued, signal }: Omit<TailSearch, 'size'>): Promise<number | undefined> {
    const counted = new EntryText(this.#query);
    let found = 0;
    let endsInLine = false;
    for await (const piece of this.#pieces(signal)) {
      const entries = counted.wholeEntries(piece);
      for (const { partial } of entriesOf(entries)) {
        endsInLine = partial;
        if (!partial) found++;
      }
    }
    const wanted = endsInLine && !isContinued ? lines - 1 : lines;
    this.#skipLines = Math.max(0, found - wanted);
    return found > wanted ? undefined : wanted - found;
  }

  async *text(signal: AbortSignal): AsyncGenerator<Buffer> {
    if (this.#isRead) return;
    for await (const piece of this.#pieces(signal)) {
      const text = this.#skipLines === 0 ? this.#text.of(piece) : this.#afterSkipped(piece);
      if (text.length > 0) yield text;
    }
    this.#isRead = true;
  }

  #afterSkipped(piece: Buffer): Buffer {
    const entries = this.#text.wholeEntries(piece);
    for (const { partial, end } of entriesOf(entries)) {
      if (!partial && --this.#skipLines === 0) return this.#text.render(entries.subarray(end));
    }
    return entries.subarray(0, 0);
  }

  /** Yields the decompressed chunks; for a truncated file, those before the truncation. */
  async *#pieces(signal?: AbortSignal): AsyncGenerator<Buffer> {
    const source = Readable.from(this.#bytes());
    const pieces = createGunzip();
    source.on('error', (error) => pieces.destroy(error));
    try {
      for await (const piece of source.pipe(pieces)) {
        if (signal?.aborted) return;
        yield piece;
      }
    } catch {
      // the log file is truncated, or is not gzip: end the text here
    } finally {
      source.destroy();
      pieces.destroy();
    }
  }

  async *#bytes(): AsyncGenerator<Buffer> {
    for (let offset = 0; ; ) {
      const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
      const { bytesRead } = await readAt(this.#file, buffer, 0, CHUNK_BYTES, offset);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
      offset += bytesRead;
    }
  }

  /** Returns the first bytes of the log after decompression. */
  async head(sizeBytes: number): Promise<Buffer> {
    for await (const piece of this.#pieces()) return piece.subarray(0, sizeBytes);
    return Buffer.alloc(0);
  }

  rest(): Buffer {
    return this.#text.rest();
  }

  close(): void {
    closeSync(this.#file);
  }
}

function* entriesOf(lines: Buffer): Generator<{ partial: boolean; end: number }> {
  for (let start = 0; start < lines.length; ) {
    const end = lines.indexOf(NEWLINE, start) + 1;
    const entry = entryParts(lines, start, end - 1);
    if (entry !== undefined) yield { partial: entry.partial, end };
    start = end;
  }
}
