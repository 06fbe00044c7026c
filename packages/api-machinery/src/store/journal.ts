import type { StoredObject } from './stored-object.ts';

/** An object recorded in a journal, and its resource. */
export type RecordedObject = { resource: string; object: StoredObject };

export type RecordedChange = RecordedObject & {
  /** True if the object was deleted. Otherwise it was created or replaces its previous state. */
  isDeleted: boolean;
};

export type JournalEntry = {
  changes: readonly RecordedChange[];
  /** The new `reservedRevision`, if it must be raised. */
  reserve?: number;
};

/** Persists a store's objects across restarts of the process. */
export interface Journal {
  /** Upper bound of all revisions handed out so far. Read when the store is opened. */
  readonly reservedRevision: number;
  /** All recorded objects, ordered by resource and key. Read when the store is opened. */
  objects(): Iterable<RecordedObject>;
  /** Records the whole entry or, if it throws, nothing. */
  record(entry: JournalEntry): void;
  /** Makes all recorded entries survive a power failure. Undefined: a recorded entry is durable. */
  readonly sync?: () => Promise<void>;
  close(): void;
}

/** A journal that records nothing. */
export const NO_JOURNAL: Journal = {
  reservedRevision: 0,
  objects: () => [],
  record: () => undefined,
  close: () => undefined,
};
