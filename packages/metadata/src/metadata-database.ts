import { errorMessage, type Logger, PodwrightError } from '@podwright/base';
import type Database from 'better-sqlite3';
import type { Change, ChangeJournal, Changes } from './change-journal.ts';
import { copyInMemory, isRefusedWrite } from './database-file.ts';

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
      this.#takeOver(options.journal.read(this.#journalNumber()));
    } catch (error) {
      options.logger.error({ file: this.name, error: errorMessage(error) }, 'the journal is damaged, and left out');
      options.journal.remove();
      this.#waiting = [];
    }
  }

  /** Makes the changes that an earlier process could not write. */
  #takeOver(left: Changes[]): void {
    this.#waiting = left;
    if (left.length === 0 || this.#writeWaiting()) return;
    if (this.#copy === undefined) this.#leaveFile(new Error('there is no room for what the journal has'));
    for (const changes of left) apply(this.#copy!, changes);
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
    this.#needSpace();
    return this.#current().transaction(change)();
  }

  /**
   * Makes changes that must not wait for space: how something ended, or that it was removed. They may be made twice, as the first
   * attempt fails where the disk has just become full, so `change` does nothing but change records.
   */
  writeEvenIfFull<T>(change: () => T): T {
    if (this.#copy === undefined) {
      try {
        return this.#file!.transaction(change)();
      } catch (error) {
        if (!isRefusedWrite(error)) throw error;
        this.#leaveFile(error);
      }
    }
    return this.#changeCopy(change);
  }

  #changeCopy<T>(change: () => T): T {
    const changes: Change[] = [];
    this.#making = changes;
    let result: T;
    try {
      result = this.#copy!.transaction(change)();
    } finally {
      this.#making = undefined;
    }
    this.#waiting.push(changes);
    this.#saveWaiting();
    return result;
  }

  /** What still waits for space stays in the journal. */
  close(): void {
    clearTimeout(this.#timer);
    if (this.#copy?.open) this.#writeWaiting();
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

  #needSpace(): void {
    if (this.#copy === undefined || this.#writeWaiting()) return;
    throw new PodwrightError('resource_exhausted', `write to ${this.name}: the disk is full; free some of its space`);
  }

  /** Goes on with a copy. Throws what it is given where the records cannot be read. */
  #leaveFile(reason: unknown): void {
    const { read, logger, name } = this.#options;
    const copy = this.#file === undefined ? read() : copyInMemory(this.#file.serialize());
    logger.warn(
      { file: name, error: errorMessage(reason) },
      'the records cannot be written: what ends is noted in the state directory until there is space',
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
    const { open, journal, logger, name } = this.#options;
    try {
      this.#file ??= open();
      const file = this.#file;
      const number = this.#journalNumber();
      file.transaction(() => {
        for (const changes of this.#waiting) apply(file, changes);
        file.pragma(`user_version = ${number}`); // this journal is never read again
      })();
    } catch (error) {
      if (isRefusedWrite(error)) return false;
      throw error;
    }
    journal.remove();
    this.#waiting = [];
    clearTimeout(this.#timer);
    if (this.#copy !== undefined) logger.info({ file: name }, 'the records can be written again');
    this.#copy?.close();
    this.#copy = undefined;
    return true;
  }

  /** Of the journal that is written next. */
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

function apply(database: Database.Database, changes: Changes): void {
  for (const { sql, values } of changes) {
    if (values === undefined) database.exec(sql);
    else database.prepare(sql).run(...values);
  }
}
