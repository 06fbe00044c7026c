import type { StoredObject } from './stored-object.ts';

/** An object in a journal. */
export type RecordedObject = { resource: string; object: StoredObject };

export type RecordedChange = RecordedObject & {
  /** Whether the object has been deleted; otherwise it replaces the earlier state. */
  isDeleted: boolean;
};

export type JournalEntry = {
  changes: readonly RecordedChange[];
  /** Raises `reservedRevision`. */
  reserve?: number;
};

/** Records the objects of a store beyond the life of the process. */
export interface Journal {
  /** No revision above it has been given. Read when the store is opened. */
  readonly reservedRevision: number;
  /** Every recorded object, in the order of resources and keys. Read when the store is opened. */
  objects(): Iterable<RecordedObject>;
  /** Records all or nothing. If it throws, nothing has been recorded. */
  record(entry: JournalEntry): void;
  close(): void;
}

/** Records nothing. */
export const NO_JOURNAL: Journal = {
  reservedRevision: 0,
  objects: () => [],
  record: () => undefined,
  close: () => undefined,
};
