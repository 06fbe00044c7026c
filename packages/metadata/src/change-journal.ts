import { closeSync, ftruncateSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { isErrno, PRIVATE_FILE } from '@podwright/base';

/** A statement that changed records, with its values; without values it may be SQL of several statements. */
export type Change = { sql: string; values?: unknown[] };

/** Changes that are written all or none. */
export type Changes = Change[];

/**
 * Changes that could not be written to the database yet, in a file on another file system: a line with the number of the
 * journal, and a line of JSON for each of the `Changes`.
 */
export class ChangeJournal {
  readonly #path: string | undefined;
  #descriptor: number | undefined;
  /** Entries, and bytes, that are in the file. */
  #entries = 0;
  #bytes = 0;

  /** Without a path nothing survives a crash. */
  constructor(path: string | undefined) {
    this.#path = path;
  }

  /** What an earlier process left in the journal of this number. A line that its crash has cut does not count. */
  read(number: number): Changes[] {
    const text = this.#text();
    const [head, ...lines] = text.slice(0, text.lastIndexOf('\n') + 1).split('\n');
    if (head !== headOf(number)) {
      this.remove();
      return [];
    }
    const entries = lines.slice(0, -1);
    this.#entries = entries.length;
    this.#bytes = Buffer.byteLength([head, ...lines].join('\n'));
    return entries.map((line) => JSON.parse(line) as Changes);
  }

  /** Writes those of `all` that are not in the file yet. Throws if that is not possible; the next call tries again. */
  save(number: number, all: readonly Changes[]): void {
    if (this.#path === undefined) return;
    this.#descriptor ??= openSync(this.#path, this.#bytes === 0 ? 'w' : 'r+', PRIVATE_FILE);
    const head = this.#bytes === 0 ? [headOf(number)] : [];
    const lines = all.slice(this.#entries).map((changes) => JSON.stringify(changes));
    const text = Buffer.from([...head, ...lines].map((line) => `${line}\n`).join(''));
    try {
      for (let done = 0; done < text.length; )
        done += writeSync(this.#descriptor, text, done, text.length - done, this.#bytes + done);
    } catch (error) {
      ftruncateSync(this.#descriptor, this.#bytes);
      throw error;
    }
    this.#bytes += text.length;
    this.#entries = all.length;
  }

  /** For when the changes are in the database. */
  remove(): void {
    this.close();
    this.#entries = 0;
    this.#bytes = 0;
    if (this.#path !== undefined) rmSync(this.#path, { force: true });
  }

  /** The file stays. */
  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  #text(): string {
    if (this.#path === undefined) return '';
    try {
      return readFileSync(this.#path, 'utf8');
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return '';
      throw error;
    }
  }
}

const headOf = (number: number) => JSON.stringify({ journal: number });
