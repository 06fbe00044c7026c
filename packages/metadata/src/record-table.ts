import { PodwrightError, wrapError } from '@podwright/base';
import type { MetadataDatabase } from './database.ts';
import { keepReserve, withReserve } from './disk-reserve.ts';

/** What every record has: its id, and the name that is unique among the records of its table. */
export type NamedRecord = { id: string; name: string };

/**
 * One room's records: all of them in memory, each change written through to SQLite before it is seen.
 * Records are values: a change puts a new one. Lists therefore cost no system call and no copy. On a full disk only new
 * records are refused (`resource_exhausted`), as long as the reserve lasts.
 */
export class RecordTable<T extends NamedRecord> {
  readonly #records = new Map<string, T>();
  readonly #names = new Map<string, string>();
  readonly #put: (record: T) => void;
  readonly #delete: (id: string) => void;
  /** What a record is called in messages. */
  readonly noun: string;

  /** `table` has the columns id, name and record (JSON); `noun` is for error messages. */
  constructor(database: MetadataDatabase, table: string, noun: string) {
    this.noun = noun;
    const upsert = database.prepare(
      `INSERT INTO ${table} (id, name, record) VALUES (?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET name = excluded.name, record = excluded.record`,
    );
    const remove = database.prepare(`DELETE FROM ${table} WHERE id = ?`);
    this.#put = (record) => {
      const write = () => upsert.run(record.id, record.name, JSON.stringify(record));
      if (this.#records.has(record.id)) return void withReserve(database, write);
      write();
      keepReserve(database); // there was room
    };
    this.#delete = (id) => withReserve(database, () => remove.run(id));
    for (const row of database.prepare(`SELECT record FROM ${table} ORDER BY rowid`).iterate()) {
      this.#remember(JSON.parse((row as { record: string }).record) as T);
    }
  }

  put(record: T): T {
    try {
      this.#put(record);
    } catch (error) {
      throw wrapError(`write the record of ${this.noun} ${record.id}`, error);
    }
    this.#remember(record);
    return record;
  }

  /** Puts the record as `change` makes it, unless it has gone meanwhile. */
  update(id: string, change: (record: T) => T): T | undefined {
    const record = this.#records.get(id);
    return record === undefined ? undefined : this.put(change(record));
  }

  delete(id: string): void {
    this.#delete(id);
    const record = this.#records.get(id);
    if (record !== undefined) this.#names.delete(record.name);
    this.#records.delete(id);
  }

  get(id: string): T | undefined {
    return this.#records.get(id);
  }

  byName(name: string): T | undefined {
    const id = this.#names.get(name);
    return id === undefined ? undefined : this.#records.get(id);
  }

  /** In order of creation. */
  list(): T[] {
    return [...this.#records.values()];
  }

  /** By id or by a prefix of one id only. Several matches are an `invalid_argument`. */
  find(idOrPrefix: string): T | undefined {
    const exact = this.#records.get(idOrPrefix);
    if (exact !== undefined || idOrPrefix === '') return exact;
    const matches = [...this.#records.values()].filter((record) => record.id.startsWith(idOrPrefix));
    if (matches.length > 1) {
      throw new PodwrightError(
        'invalid_argument',
        `find ${this.noun} ${idOrPrefix}: ${matches.length} ids begin with it`,
      );
    }
    return matches[0];
  }

  /** As `find`; none is a `not_found`. */
  require(idOrPrefix: string): T {
    const record = this.find(idOrPrefix);
    if (record === undefined) throw new PodwrightError('not_found', `${this.noun} "${idOrPrefix}" not found`);
    return record;
  }

  #remember(record: T): void {
    this.#records.set(record.id, record);
    this.#names.set(record.name, record.id);
  }
}
