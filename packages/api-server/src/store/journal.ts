import type { StoredObject } from './stored-object.ts';

/** An object in a journal. */
export type RecordedObject = { resource: string; object: StoredObject };

export type RecordedChange = RecordedObject & {
  /** True if the object was deleted; otherwise the object replaces its earlier state. */
  isDeleted: boolean;
};

export type JournalEntry = {
  changes: readonly RecordedChange[];
  /** The new `reservedRevision`, if it must be raised. */
  reserve?: number;
};

/** Persists the objects of a store beyond the life of the process. */
export interface Journal {
  /** An upper bound for all revisions given out so far. Read when the store is opened. */
  readonly reservedRevision: number;
  /** All recorded objects, ordered by resource and key. Read when the store is opened. */
  objects(): Iterable<RecordedObject>;
  /** Records the whole entry or nothing. If it throws, nothing has been recorded. */
  record(entry: JournalEntry): void;
  close(): void;
}

/** A journal that records nothing. */
export const NO_JOURNAL: Journal = {
  reservedRevision: 0,
  objects: () => [],
  record: () => undefined,
  close: () => undefined,
};
