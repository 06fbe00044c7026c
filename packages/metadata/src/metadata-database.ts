import { errorMessage, type Logger, PodwrightError } from '@podwright/base';
import type Database from 'better-sqlite3';
import { type Change, type ChangeJournal, type Changes, DamagedJournal } from './change-journal.ts';
import { copyInMemory, isMisfit, isRefusedWrite } from './database-file.ts';

/** Interval between attempts to write pending changes. */
const RETRY_MS = 1000;

export type MetadataDatabaseOptions = {
  /** Path of the database file, or `:memory:`. */
  name: string;
  /** Opens the database for writing. Throws an error recognized by `isRefusedWrite` if the disk has no space for that. */
  open: () => Database.Database;
  /** Reads the database into memory. Called if the database cannot be opened for writing. */
  read: () => Database.Database;
  journal: ChangeJournal;
  logger: Logger;
};

/**
 * The database that holds all records: images, snapshots, sandboxes and containers. Each component has its own tables in it.
 *
 * While the disk cannot be written, an in-memory copy replaces the file. Changes that must not wait for space are made in the copy and in
 * the journal, which is on another file system; all other changes fail. Once there is space, the pending changes are written to the file
 * and the copy is dropped.
 */
export class MetadataDatabase {
  readonly name: string;
  readonly #options: MetadataDatabaseOptions;
  #file: Database.Database | undefined;
  #copy: Database.Database | undefined;
  /** Changes that are in the in-memory copy but not yet in the file. */
  #pending: Changes[] = [];
  /** Collects the statements of the current transaction on the in-memory copy. */
  #recording: Change[] | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: MetadataDatabaseOptions) {
    this.#options = options;
    this.name = options.name;
    try {
      this.#file = options.open();
    } catch (error) {
      if (!isRefusedWrite(error)) throw error;
      this.#switchToCopy(error);
    }
    try {
      this.#applyJournal();
    } catch (error) {
      this.#end();
      throw error;
    }
  }

  /** Applies the changes that an earlier process could not write to the file: either all of them or none. */
  #applyJournal(): void {
    const { journal, logger } = this.#options;
    try {
      this.#pending = journal.read(this.#journalNumber());
      if (this.#pending.length === 0 || this.#writePending()) return;
      if (this.#copy === undefined) this.#switchToCopy(new Error('no space for the changes in the journal'));
      const copy = this.#copy!;
      copy.transaction(() => applyAll(copy, this.#pending))();
    } catch (error) {
      if (!(error instanceof DamagedJournal)) throw error;
      logger.error(
        { file: this.name, error: errorMessage(error) },
        'the journal cannot be applied and is ignored: exits of containers since the disk was full are lost',
      );
      this.#pending = [];
      this.#removeJournal();
    }
  }

  /** Returns a prepared statement, which is prepared again whenever the records have moved to or from the in-memory copy. */
  prepare(sql: string): MetadataStatement {
    return new MetadataStatement(sql, {
      database: () => this.#current(),
      change: (values) => this.#beforeChange({ sql, values }),
    });
  }

  /** Executes any number of SQL statements. */
  exec(sql: string): void {
    this.#beforeChange({ sql });
    this.#current().exec(sql);
  }

  /** Runs `change` in a transaction. Throws `resource_exhausted` if the disk is full. */
  write<T>(change: () => T): T {
    this.#refuseNested();
    this.#needSpace();
    return this.#current().transaction(change)();
  }

  /**
   * Runs `change` in a transaction, even if the disk is full. For changes that must not wait for space: exits and removals. `change` may be
   * called twice, because the first attempt fails if the disk has only just become full, so it must do nothing but change records. A change
   * supersedes earlier ones with the same `replaces`, which are then dropped from the journal.
   */
  writeEvenIfFull<T>(change: () => T, { replaces }: { replaces?: string } = {}): T {
    this.#refuseNested();
    if (this.#copy === undefined) {
      try {
        return this.#file!.transaction(change)();
      } catch (error) {
        if (!isRefusedWrite(error)) throw error;
        this.#switchToCopy(error);
      }
    }
    return this.#changeCopy(change, replaces);
  }

  #changeCopy<T>(change: () => T, replaces: string | undefined): T {
    const changes: Change[] = [];
    this.#recording = changes;
    let result: T;
    try {
      result = this.#copy!.transaction(change)();
    } finally {
      this.#recording = undefined;
    }
    const [first] = changes;
    if (first === undefined) return result;
    if (replaces !== undefined) {
      first.replaces = replaces;
      this.#pending = this.#pending.filter(([earlier]) => earlier?.replaces !== replaces);
    }
    this.#pending.push(changes);
    this.#savePending();
    return result;
  }

  /** Closes the database. Changes that cannot be written to its file stay in the journal. */
  close(): void {
    try {
      if (this.#copy?.open) this.#writePending();
    } finally {
      this.#end();
    }
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#copy?.close();
    this.#file?.close();
    this.#options.journal.close();
  }

  #current(): Database.Database {
    return this.#copy ?? this.#file!;
  }

  /**
   * Called before each change. Records the change if a transaction on the in-memory copy is running; otherwise throws unless the file is
   * writable.
   */
  #beforeChange(change: Change): void {
    if (this.#recording !== undefined) this.#recording.push(change);
    else this.#needSpace();
  }

  /** Rejects nested changes: the inner one could drop the in-memory copy that the outer one is changing. */
  #refuseNested(): void {
    if (!this.#current().inTransaction) return;
    throw new PodwrightError('internal', `write to ${this.name}: a change is nested within another change`);
  }

  #needSpace(): void {
    if (this.#copy === undefined || this.#writePending()) return;
    throw new PodwrightError('resource_exhausted', `write to ${this.name}: the disk is full; free some disk space`);
  }

  /** Switches to an in-memory copy. Throws if the records cannot be read. */
  #switchToCopy(reason: unknown): void {
    const { read, logger, name } = this.#options;
    const copy = this.#file === undefined ? read() : copyInMemory(this.#file.serialize());
    logger.warn(
      { file: name, error: errorMessage(reason) },
      'the records cannot be written: exits of containers are written to the state directory until there is space',
    );
    this.#copy = copy;
    this.#writeLater();
  }

  #savePending(): void {
    const { journal, logger, name } = this.#options;
    try {
      journal.save(this.#journalNumber(), this.#pending);
    } catch (error) {
      logger.debug(
        { file: name, error: errorMessage(error) },
        'changes of records are only in memory until there is space',
      );
    }
  }

  #writeLater(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#retryWrite(), RETRY_MS);
    this.#timer.unref();
  }

  #retryWrite(): void {
    try {
      if (this.#writePending()) return;
    } catch (error) {
      this.#options.logger.error(
        { file: this.name, error: errorMessage(error) },
        'changes of records cannot be written',
      );
    }
    this.#savePending();
    this.#writeLater();
  }

  /** Writes the pending changes to the file and drops the in-memory copy. Returns false if the disk still cannot be written. */
  #writePending(): boolean {
    const { open, logger, name } = this.#options;
    try {
      this.#file ??= open();
      const file = this.#file;
      const number = this.#journalNumber();
      file.transaction(() => {
        applyAll(file, this.#pending);
        file.pragma(`user_version = ${number}`); // so that this journal is never applied again
      })();
    } catch (error) {
      if (isRefusedWrite(error)) return false;
      throw error;
    }
    this.#pending = [];
    this.#removeJournal();
    clearTimeout(this.#timer);
    if (this.#copy !== undefined) logger.info({ file: name }, 'the records can be written again');
    this.#copy?.close();
    this.#copy = undefined;
    return true;
  }

  /** Removes the journal. A failure is harmless: the next start ignores the journal, because its number is outdated or it is damaged. */
  #removeJournal(): void {
    const { journal, logger, name } = this.#options;
    try {
      journal.remove();
    } catch (error) {
      logger.warn({ file: name, error: errorMessage(error) }, 'the journal of the records could not be removed');
    }
  }

  /** Returns the number of the next journal: one more than that of the last applied journal. */
  #journalNumber(): number {
    const database = this.#file ?? this.#copy!;
    return (database.pragma('user_version', { simple: true }) as number) + 1;
  }
}

type StatementOwner = { database: () => Database.Database; change: (values: unknown[]) => void };

/** A prepared statement with better-sqlite3's interface. */
export class MetadataStatement {
  readonly #sql: string;
  readonly #owner: StatementOwner;
  #prepared: { database: Database.Database; statement: Database.Statement } | undefined;

  constructor(sql: string, owner: StatementOwner) {
    this.#sql = sql;
    this.#owner = owner;
  }

  get(...values: unknown[]): unknown {
    return this.#statement().get(...values);
  }

  all(...values: unknown[]): unknown[] {
    return this.#statement().all(...values);
  }

  /** Executes a statement that changes records. Throws `resource_exhausted` if the disk is full, except within `writeEvenIfFull`. */
  run(...values: unknown[]): Database.RunResult {
    this.#owner.change(values);
    return this.#statement().run(...values);
  }

  #statement(): Database.Statement {
    const database = this.#owner.database();
    if (this.#prepared?.database !== database) this.#prepared = { database, statement: database.prepare(this.#sql) };
    return this.#prepared.statement;
  }
}

function applyAll(database: Database.Database, all: Changes[]): void {
  for (const { sql, values } of all.flat()) {
    try {
      if (values === undefined) database.exec(sql);
      else database.prepare(sql).run(...values);
    } catch (cause) {
      if (!isMisfit(cause)) throw cause;
      throw new DamagedJournal(`a change does not match the records: ${errorMessage(cause)}`, { cause });
    }
  }
}
