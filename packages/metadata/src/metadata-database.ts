import { errorMessage, type Logger, PodwrightError } from '@podwright/base';
import type Database from 'better-sqlite3';
import { type Change, type ChangeJournal, type Changes, DamagedJournal } from './change-journal.ts';
import { copyInMemory, isMisfit, isRefusedWrite } from './database-file.ts';

/** When changes that could not be written are tried again. */
const WRITE_AGAIN_MS = 1000;

/** How a database is opened, and what it reports. */
export type MetadataDatabaseOptions = {
  /** The file, or `:memory:`. */
  name: string;
  /** Opens the database for writing; throws what `isRefusedWrite` if the disk has no room for that. */
  open: () => Database.Database;
  /** The database as it is now, in memory, where it could not be opened. */
  read: () => Database.Database;
  journal: ChangeJournal;
  logger: Logger;
};

/**
 * The one file of records: images, snapshots, sandboxes and containers. Every room has its own tables in it.
 *
 * While the disk takes no writes, the records are those of a copy in memory. Changes that must not wait for space are made
 * there and in the journal, which is on another file system; all others fail. Once there is space the journal is written to
 * the database, and the copy is dropped.
 */
export class MetadataDatabase {
  readonly name: string;
  readonly #options: MetadataDatabaseOptions;
  #file: Database.Database | undefined;
  #copy: Database.Database | undefined;
  /** Changes that are in the copy and not in the file. */
  #waiting: Changes[] = [];
  /** Where the changes that are being made go, unless they go to the file. */
  #making: Change[] | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: MetadataDatabaseOptions) {
    this.#options = options;
    this.name = options.name;
    try {
      this.#file = options.open();
    } catch (error) {
      if (!isRefusedWrite(error)) throw error;
      this.#leaveFile(error);
    }
    try {
      this.#applyJournal();
    } catch (error) {
      this.#end();
      throw error;
    }
  }

  /** Makes the changes that an earlier process could not write, all or none. */
  #applyJournal(): void {
    const { journal, logger } = this.#options;
    try {
      this.#waiting = journal.read(this.#journalNumber());
      if (this.#waiting.length === 0 || this.#writeWaiting()) return;
      if (this.#copy === undefined) this.#leaveFile(new Error('there is no room for the changes in the journal'));
      const copy = this.#copy!;
      copy.transaction(() => applyAll(copy, this.#waiting))();
    } catch (error) {
      if (!(error instanceof DamagedJournal)) throw error;
      logger.error(
        { file: this.name, error: errorMessage(error) },
        'the journal cannot be applied and is ignored: ends of containers since the disk was full are lost',
      );
      this.#waiting = [];
      this.#removeJournal();
    }
  }

  /** A statement that is prepared once, and prepared again where the records have moved. */
  prepare(sql: string): MetadataStatement {
    return new MetadataStatement(sql, {
      database: () => this.#current(),
      change: (values) => this.#note({ sql, values }),
    });
  }

  /** Runs SQL of any number of statements. */
  exec(sql: string): void {
    this.#note({ sql });
    this.#current().exec(sql);
  }

  /** Makes changes, all or none. `resource_exhausted` on a full disk. */
  write<T>(change: () => T): T {
    this.#refuseNested();
    this.#needSpace();
    return this.#current().transaction(change)();
  }

  /**
   * Makes changes that must not wait for space: how something ended, or that it was removed. `change` may be called twice, as the
   * first attempt fails when the disk has just become full, so it does nothing but change records. If earlier changes with the same
   * `replaces` make no difference to any record after these, then only these are kept while the disk is full.
   */
  writeEvenIfFull<T>(change: () => T, { replaces }: { replaces?: string } = {}): T {
    this.#refuseNested();
    if (this.#copy === undefined) {
      try {
        return this.#file!.transaction(change)();
      } catch (error) {
        if (!isRefusedWrite(error)) throw error;
        this.#leaveFile(error);
      }
    }
    return this.#changeCopy(change, replaces);
  }

  #changeCopy<T>(change: () => T, replaces: string | undefined): T {
    const changes: Change[] = [];
    this.#making = changes;
    let result: T;
    try {
      result = this.#copy!.transaction(change)();
    } finally {
      this.#making = undefined;
    }
    const [first] = changes;
    if (first === undefined) return result;
    if (replaces !== undefined) {
      first.replaces = replaces;
      this.#waiting = this.#waiting.filter(([earlier]) => earlier?.replaces !== replaces);
    }
    this.#waiting.push(changes);
    this.#saveWaiting();
    return result;
  }

  /** Changes that are not in the file yet stay in the journal. */
  close(): void {
    try {
      if (this.#copy?.open) this.#writeWaiting();
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

  /** Before a change: where the records are a copy it goes to the journal, or needs the file. */
  #note(change: Change): void {
    if (this.#making !== undefined) this.#making.push(change);
    else this.#needSpace();
  }

  /** The inner change could drop the copy that the outer one is changing. */
  #refuseNested(): void {
    if (!this.#current().inTransaction) return;
    throw new PodwrightError('internal', `write to ${this.name}: a change is made within another change`);
  }

  #needSpace(): void {
    if (this.#copy === undefined || this.#writeWaiting()) return;
    throw new PodwrightError('resource_exhausted', `write to ${this.name}: the disk is full; free some of its space`);
  }

  /** Continues on a copy in memory. Throws if the records cannot be read. */
  #leaveFile(reason: unknown): void {
    const { read, logger, name } = this.#options;
    const copy = this.#file === undefined ? read() : copyInMemory(this.#file.serialize());
    logger.warn(
      { file: name, error: errorMessage(reason) },
      'the records cannot be written: ends of containers are written to the state directory until there is space',
    );
    this.#copy = copy;
    this.#writeLater();
  }

  #saveWaiting(): void {
    const { journal, logger, name } = this.#options;
    try {
      journal.save(this.#journalNumber(), this.#waiting);
    } catch (error) {
      logger.debug(
        { file: name, error: errorMessage(error) },
        'changes of records are in memory only until there is space',
      );
    }
  }

  #writeLater(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#writeNow(), WRITE_AGAIN_MS);
    this.#timer.unref();
  }

  #writeNow(): void {
    try {
      if (this.#writeWaiting()) return;
    } catch (error) {
      this.#options.logger.error(
        { file: this.name, error: errorMessage(error) },
        'changes of records cannot be written',
      );
    }
    this.#saveWaiting();
    this.#writeLater();
  }

  /** Whether everything is in the file now, and the copy dropped. */
  #writeWaiting(): boolean {
    const { open, logger, name } = this.#options;
    try {
      this.#file ??= open();
      const file = this.#file;
      const number = this.#journalNumber();
      file.transaction(() => {
        applyAll(file, this.#waiting);
        file.pragma(`user_version = ${number}`); // this journal is never read again
      })();
    } catch (error) {
      if (isRefusedWrite(error)) return false;
      throw error;
    }
    this.#waiting = [];
    this.#removeJournal();
    clearTimeout(this.#timer);
    if (this.#copy !== undefined) logger.info({ file: name }, 'the records can be written again');
    this.#copy?.close();
    this.#copy = undefined;
    return true;
  }

  /** The next start ignores the journal in any case: its number is too small, or it is damaged. */
  #removeJournal(): void {
    const { journal, logger, name } = this.#options;
    try {
      journal.remove();
    } catch (error) {
      logger.warn({ file: name, error: errorMessage(error) }, 'the journal of the records could not be removed');
    }
  }

  /** The number of the next journal: one more than that of the last journal that was applied. */
  #journalNumber(): number {
    const database = this.#file ?? this.#copy!;
    return (database.pragma('user_version', { simple: true }) as number) + 1;
  }
}

type StatementOwner = { database: () => Database.Database; change: (values: unknown[]) => void };

/** As better-sqlite3's statements. */
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

  /** Changes records; `resource_exhausted` on a full disk, but in `writeEvenIfFull`. */
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
      throw new DamagedJournal(`a change does not fit the records: ${errorMessage(cause)}`, { cause });
    }
  }
}
