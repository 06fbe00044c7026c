import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { isErrno, PRIVATE_FILE } from '@podwright/base';
import type Database from 'better-sqlite3';

/** One turn of SQLite's write-ahead log (its `wal_autocheckpoint` of 1000 pages): after that its space is used again. */
const RESERVE_BYTES = 4 << 20;

const reservePath = (database: Database.Database): string => `${database.name}-reserve`;

/**
 * Keeps a little of the disk beside the records, for the day when it is full: pods could not even be taken down then, as
 * that is recorded too. On a disk without room for it there is none.
 */
export function keepReserve(database: Database.Database): void {
  const path = reservePath(database);
  if (database.memory || existsSync(path)) return;
  try {
    writeFileSync(path, Buffer.alloc(RESERVE_BYTES), { mode: PRIVATE_FILE });
  } catch {
    rmSync(path, { force: true });
  }
}

/** Writes to the records, with the reserve if the disk is full. For changes that give something back. */
export function withReserve<T>(database: Database.Database, write: () => T): T {
  try {
    return write();
  } catch (error) {
    if (!isErrno(error, 'SQLITE_FULL') || !existsSync(reservePath(database))) throw error;
    rmSync(reservePath(database));
    return write();
  }
}
