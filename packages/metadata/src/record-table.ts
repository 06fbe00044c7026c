import { counted, errorMessage, isRecord, PodwrightError, wrapError } from '@podwright/base';
import type { MetadataDatabase } from './metadata-database.ts';

/** The fields that all records have. Ids and names are unique within a table. */
export type NamedRecord = { id: string; name: string };

/** A damaged row. `reason` starts with the name of the invalid field. */
export type DamagedRecord = { table: string; id: string; reason: string };

export type RecordTableOptions<T> = {
  /** Name of the table, whose columns are id, name and record (JSON). */
  table: string;
  /** The noun for a record in messages, for example `sandbox`. */
  noun: string;
  /** Version of the record format, stored in each record. */
  version: number;
  /**
   * Validates and converts a stored record. Errors must name the invalid field. `version`: the format version stored in the record, or 0 if
   * there is none.
   */
  decode: (value: unknown, version: number) => T;
  /**
   * Called for each damaged row after it has been deleted. The caller must clean up the record's resources, because no record describes
   * them any more.
   */
  onDamaged: (damaged: DamagedRecord) => void;
};

/** The JSON field that holds a record's format version. */
const VERSION_FIELD = 'recordVersion';

/**
 * The records of one component, all cached in memory. Each change is written to SQLite before it becomes visible. Records are immutable: a
 * change replaces the record, so listing needs neither system calls nor copies. If the disk is full, only new records are rejected
 * (`resource_exhausted`).
 */
export class RecordTable<T extends NamedRecord> {
  readonly #records = new Map<string, T>();
  readonly #names = new Map<string, string>();
  readonly #put: (record: T) => void;
  readonly #delete: (id: string) => void;
  readonly noun: string;

  /**
   * Reads all records. Throws `failed_precondition` if a record has a newer version, and `data_loss` if damaged records outnumber valid
   * ones; nothing is changed in either case.
   */
  constructor(database: MetadataDatabase, options: RecordTableOptions<T>) {
    const { table, noun, version } = options;
    this.noun = noun;
    const upsert = database.prepare(
      `INSERT INTO ${table} (id, name, record) VALUES (?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET name = excluded.name, record = excluded.record`,
    );
    const keyOf = (id: string) => `${table} ${id}`;
    const remove = database.prepare(`DELETE FROM ${table} WHERE id = ?`);
    this.#put = (record) => {
      const text = JSON.stringify({ [VERSION_FIELD]: version, ...record });
      const write = () => upsert.run(record.id, record.name, text);
      if (this.#records.has(record.id)) database.writeEvenIfFull(write, { replaces: keyOf(record.id) });
      else write();
    };
    this.#delete = (id) => void database.writeEvenIfFull(() => remove.run(id), { replaces: keyOf(id) });
    const { records, damaged } = readRecords(database, options);
    for (const record of records) this.#cache(record);
    for (const row of damaged) {
      this.#delete(row.id);
      options.onDamaged(row);
    }
  }

  put(record: T): T {
    try {
      this.#put(record);
    } catch (error) {
      throw wrapError(`write the record of ${this.noun} ${record.id}`, error);
    }
    this.#cache(record);
    return record;
  }

  /** Replaces a record with the result of `change`; returns `undefined` if the record does not exist. */
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

  /** Returns all records in creation order. */
  list(): T[] {
    return [...this.#records.values()];
  }

  /** Finds a record by its ID or a prefix of it. Throws `invalid_argument` if the prefix is ambiguous. */
  find(idOrPrefix: string): T | undefined {
    const exact = this.#records.get(idOrPrefix);
    if (exact !== undefined || idOrPrefix === '') return exact;
    const matches = [...this.#records.values()].filter((record) => record.id.startsWith(idOrPrefix));
    if (matches.length > 1) {
      throw new PodwrightError(
        'invalid_argument',
        `find ${this.noun} ${idOrPrefix}: ${matches.length} ids have this prefix`,
      );
    }
    return matches[0];
  }

  /** Like `find`, but throws `not_found` if there is no such record. */
  require(idOrPrefix: string): T {
    const record = this.find(idOrPrefix);
    if (record === undefined) throw new PodwrightError('not_found', `${this.noun} "${idOrPrefix}" not found`);
    return record;
  }

  #cache(record: T): void {
    this.#records.set(record.id, record);
    this.#names.set(record.name, record.id);
  }
}

type Row = { id: string; name: string; record: string };

/**
 * Reads all rows. Throws `data_loss` if most of them are damaged, because then the fault is probably in this program rather than in the
 * rows.
 */
function readRecords<T extends NamedRecord>(
  database: MetadataDatabase,
  options: RecordTableOptions<T>,
): { records: T[]; damaged: DamagedRecord[] } {
  const { table } = options;
  const records: T[] = [];
  const damaged: DamagedRecord[] = [];
  for (const row of database.prepare(`SELECT id, name, record FROM ${table} ORDER BY rowid`).all()) {
    const { id } = row as Row;
    try {
      records.push(readRecord(row as Row, options));
    } catch (error) {
      if (error instanceof NewerRecord) throw wrapError(`open ${database.name}`, error);
      damaged.push({ table, id, reason: errorMessage(error) });
    }
  }
  const [first] = damaged;
  if (damaged.length <= Math.max(1, records.length)) return { records, damaged };
  throw new PodwrightError(
    'data_loss',
    `open ${database.name}: ${counted(damaged.length, 'damaged record')} in ${table}, ${records.length} valid; the first is ${first!.id}: ${first!.reason}; restore a copy of the file, or use the Podwright that wrote it`,
  );
}

class NewerRecord extends PodwrightError {}

function readRecord<T extends NamedRecord>(row: Row, { noun, version, decode }: RecordTableOptions<T>): T {
  const { [VERSION_FIELD]: written = 0, ...value } = parseObject(row.record);
  if (typeof written !== 'number') throw new Error(`${VERSION_FIELD}: it is not a number`);
  if (written > version) {
    throw new NewerRecord(
      'failed_precondition',
      `the record of ${noun} ${row.id} has version ${written}, this Podwright supports up to ${version}; use the newer Podwright or another root directory`,
    );
  }
  const record = decode(value, written);
  for (const column of ['id', 'name'] as const)
    if (record[column] !== row[column]) throw new Error(`${column}: it differs from the column of its row`);
  return record;
}

/** Parses a JSON object. Does not pass on the parser's error, because it would quote the record and any secrets in it. */
function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return value;
  } catch {}
  throw new Error('record: it is not a JSON object');
}
