import type { StoredObject } from './stored-object.ts';

/** An object in a journal, with its resource. */
export type RecordedObject = { resource: string; object: StoredObject };

export type RecordedChange = RecordedObject & {
  /** Whether the entry deletes the object rather than creating or replacing it. */
  isDeleted: boolean;
};

export type JournalEntry = {
  changes: readonly RecordedChange[];
  /** The new `reservedRevision`, if it must be raised. */
  reserve?: number;
};

/** Persists a store's objects across restarts of the process. */
export interface Journal {
  /** Upper bound of all revisions assigned so far. Read when the store is opened. */
  readonly reservedRevision: number;
  /** All recorded objects, ordered by resource and key. Read when the store is opened. */
  objects(): Iterable<RecordedObject>;
  /** Records the entire entry, or nothing if it throws. */
  record(entry: JournalEntry): void;
  /**
   * Waits until all recorded entries are durable: at the latest when the promise is resolved. Returns undefined if they already are. If
   * unset, recorded entries always are.
   */
  sync?(): Promise<void> | undefined;
  close(): void;
}

/** A journal that records nothing. */
export const NO_JOURNAL: Journal = {
  reservedRevision: 0,
  objects: () => [],
  record: () => undefined,
  close: () => undefined,
};
