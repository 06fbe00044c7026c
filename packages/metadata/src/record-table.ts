import { counted, errorMessage, isRecord, PodwrightError, wrapError } from '@podwright/base';
import type { MetadataDatabase } from './metadata-database.ts';

/** What every record has: its id, and the name that is unique among the records of its table. */
export type NamedRecord = { id: string; name: string };

/** A row that holds no record: which one, and what is wrong with it, the field first. */
export type DamagedRecord = { table: string; id: string; reason: string };

export type RecordTableOptions<T> = {
  /** It has the columns id, name and record (JSON). */
  table: string;
  /** What a record is called in messages. */
  noun: string;
  /** Version of the records' form, which is written into each. */
  version: number;
  /** Checks what was read; throws what names the field. `version` is that of the form, 0 for records without one. */
  decode: (value: unknown, version: number) => T;
  /** Told of each row that holds no record. It has been deleted: what it stood for is to be removed as unknown. */
  onDamaged: (damaged: DamagedRecord) => void;
};

/** Where a record has the version of its form. */
const VERSION_FIELD = 'recordVersion';

/**
 * One room's records: all of them in memory, each change written through to SQLite before it is seen.
 * Records are values: a change puts a new one. Lists therefore cost no system call and no copy. On a full disk only new
 * records are refused (`resource_exhausted`).
 */
export class RecordTable<T extends NamedRecord> {
  readonly #records = new Map<string, T>();
  readonly #names = new Map<string, string>();
  readonly #put: (record: T) => void;
  readonly #delete: (id: string) => void;
  /** What a record is called in messages. */
  readonly noun: string;

  /**
   * Reads all records. One of a newer version is a `failed_precondition`, more damaged ones than good ones are a `data_loss`:
   * nothing is changed then.
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
    for (const record of records) this.#remember(record);
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

type Row = { id: string; name: string; record: string };

/** If most are damaged it is not the rows but this program that is wrong: then nothing is touched (`data_loss`). */
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
    `open ${database.name}: ${counted(damaged.length, 'damaged record')} in ${table}, ${records.length} sound; the first is ${first!.id}: ${first!.reason}; put a copy of the file back, or use the Podwright that wrote it`,
  );
}

class NewerRecord extends PodwrightError {}

function readRecord<T extends NamedRecord>(row: Row, { noun, version, decode }: RecordTableOptions<T>): T {
  const { [VERSION_FIELD]: written = 0, ...value } = parseObject(row.record);
  if (typeof written !== 'number') throw new Error(`${VERSION_FIELD}: it is no number`);
  if (written > version) {
    throw new NewerRecord(
      'failed_precondition',
      `the record of ${noun} ${row.id} has version ${written}, this Podwright knows up to ${version}; use the newer Podwright or another root directory`,
    );
  }
  const record = decode(value, written);
  for (const column of ['id', 'name'] as const)
    if (record[column] !== row[column]) throw new Error(`${column}: it is another one than that of its row`);
  return record;
}

/** The message of the parser would quote what is there, which may be a secret. */
function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return value;
  } catch {}
  throw new Error('record: it is no JSON object');
}
