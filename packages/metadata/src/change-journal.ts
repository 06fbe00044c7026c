import { closeSync, ftruncateSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { isErrno, isRecord, wrapError } from '@podwright/base';
import { writeFileAtomicSync } from '@podwright/host';

/** An SQL statement that changed records, and its bound values. Without `values`, `sql` may consist of several statements. */
export type Change = { sql: string; values?: unknown[]; replaces?: string };

/**
 * The changes of one transaction. They supersede any earlier transaction whose first change has the same `replaces`; the superseded
 * transaction no longer needs to be written.
 */
export type Changes = Change[];

/** Thrown if the journal is damaged or its changes cannot be applied. */
export class DamagedJournal extends Error {}

/** The journal file is rewritten when its superseded entries outnumber the current ones by this many. */
const SPARE_ENTRIES = 64;

/**
 * A file on another file system that holds the changes not yet written to the database. Its first line contains the journal number; each
 * further line is one `Changes` as JSON. Superseded entries stay in the file until there are many of them.
 */
export class ChangeJournal {
  readonly #path: string | undefined;
  #descriptor: number | undefined;
  /** The entries in the journal file; `#bytes` is the size of that file. */
  #saved = new Set<Changes>();
  #bytes = 0;

  /** Without a path, changes are kept only in memory and do not survive a crash. */
  constructor(path: string | undefined) {
    this.#path = path;
  }

  /**
   * Reads the changes that an earlier process left in the journal with this number. Ignores an incomplete last line, which a crash can
   * leave behind. Throws `DamagedJournal` for any other invalid line.
   */
  read(number: number): Changes[] {
    const text = this.#text();
    const [head, ...lines] = text.slice(0, text.lastIndexOf('\n') + 1).split('\n');
    if (`${head}\n` !== headOf(number)) {
      this.remove();
      return [];
    }
    const all = lines.slice(0, -1).map(decodeChanges);
    this.#saved = new Set(all);
    this.#bytes = Buffer.byteLength([head, ...lines].join('\n'));
    return all;
  }

  /** Appends the changes that are not in the journal file yet. Throws if that fails; the next call tries again. */
  save(number: number, all: readonly Changes[]): void {
    if (this.#path === undefined) return;
    const isNew = this.#bytes === 0;
    if (isNew || this.#saved.size > 2 * all.length + SPARE_ENTRIES) this.#rewrite(this.#path, number, all);
    else this.#append(this.#path, all);
    this.#saved = new Set([...(isNew ? [] : this.#saved), ...all]);
  }

  #rewrite(path: string, number: number, all: readonly Changes[]): void {
    const text = headOf(number) + linesOf(all);
    writeFileAtomicSync(path, text);
    this.close();
    this.#saved.clear();
    this.#bytes = Buffer.byteLength(text);
  }

  #append(path: string, all: readonly Changes[]): void {
    this.#descriptor ??= openSync(path, 'r+');
    const text = Buffer.from(linesOf(all.filter((changes) => !this.#saved.has(changes))));
    try {
      for (let done = 0; done < text.length; )
        done += writeSync(this.#descriptor, text, done, text.length - done, this.#bytes + done);
    } catch (error) {
      ftruncateSync(this.#descriptor, this.#bytes);
      throw error;
    }
    this.#bytes += text.length;
  }

  /** Removes the journal. Called once its changes are in the database. */
  remove(): void {
    this.#saved.clear();
    this.#bytes = 0;
    this.close();
    if (this.#path !== undefined) rmSync(this.#path, { force: true });
  }

  /** Closes the journal file without removing it. */
  close(): void {
    const descriptor = this.#descriptor;
    this.#descriptor = undefined;
    if (descriptor !== undefined) closeSync(descriptor);
  }

  #text(): string {
    if (this.#path === undefined) return '';
    try {
      if (!statSync(this.#path).isFile()) throw new Error('it is not a regular file'); // opening a FIFO would block
      return readFileSync(this.#path, 'utf8');
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return '';
      throw wrapError(`read the journal ${this.#path}`, error);
    }
  }
}

const headOf = (number: number) => `${JSON.stringify({ journal: number })}\n`;
const linesOf = (all: readonly Changes[]) => all.map((changes) => `${JSON.stringify(changes)}\n`).join('');

function decodeChanges(line: string): Changes {
  const changes = parse(line);
  const isChange = (one: unknown) =>
    isRecord(one) && typeof one.sql === 'string' && (one.values === undefined || Array.isArray(one.values));
  if (!Array.isArray(changes) || !changes.every(isChange)) throw new DamagedJournal('a line is not a list of changes');
  return changes as Changes;
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw new DamagedJournal('a line is not JSON', { cause });
  }
}
