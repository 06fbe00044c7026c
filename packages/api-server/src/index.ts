export type { ApiObject } from './api-object.ts';
export { MemoryStore } from './store/memory-store.ts';
export type {
  Continuation,
  HistoryBounds,
  IndexValue,
  ListOptions,
  ObjectKey,
  ObjectList,
  ObjectStore,
  StoreEvent,
  StoreOptions,
  StoreWatch,
  WatchOptions,
  Write,
} from './store/object-store.ts';
export type { Durability } from './store/sqlite-file.ts';
export { openSqliteStore, type SqliteStore, type SqliteStoreOptions } from './store/sqlite-store.ts';
export { ExpiredRevision, SlowWatcher } from './store/store-errors.ts';
export { itemParts, type StoredObject } from './store/stored-object.ts';
