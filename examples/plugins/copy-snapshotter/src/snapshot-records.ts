import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { SnapshotInfo } from '@podwright/runtime/plugin';

/** A snapshot, and the number that names its directory. */
export type SnapshotRecord = SnapshotInfo & { number: number };

/** The records in one JSON file. Each change is written atomically before the call returns. */
export class SnapshotRecords {
  readonly #path: string;
  readonly #records: Map<string, SnapshotRecord>;

  constructor(path: string) {
    this.#path = path;
    this.#records = new Map(readRecords(path).map((record) => [record.key, record]));
  }

  find(key: string): SnapshotRecord | undefined {
    return this.#records.get(key);
  }

  list(): SnapshotRecord[] {
    return [...this.#records.values()];
  }

  /** Adds `record` and removes the record with the key `instead`. Default of `instead`: the record's own key. */
  put(record: SnapshotRecord, instead = record.key): void {
    this.#records.delete(instead);
    this.#records.set(record.key, record);
    this.#write();
  }

  delete(key: string): void {
    this.#records.delete(key);
    this.#write();
  }

  #write(): void {
    writeFileSync(`${this.#path}.new`, JSON.stringify(this.list()), { mode: 0o600 });
    renameSync(`${this.#path}.new`, this.#path);
  }
}

function readRecords(path: string): SnapshotRecord[] {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as SnapshotRecord[];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
