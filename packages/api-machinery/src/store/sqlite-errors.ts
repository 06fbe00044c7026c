import { isRecord, PodwrightError, wrapError } from '@podwright/base';

/** Primary result codes of SQLite (https://www.sqlite.org/rescode.html). */
const BUSY = 5;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const NOTADB = 26;

/**
 * Wraps an error of an operation on the store's file in an actionable message. A `PodwrightError` is returned unchanged. `attempt`
 * describes the operation and names the file. Codes: `data_loss` (the file is damaged), `failed_precondition` (another process has it
 * open), `resource_exhausted` (the disk is full), `unavailable` (the file cannot be read or written); otherwise the code of the original
 * error.
 */
export function storeFileError(attempt: string, error: unknown): PodwrightError {
  if (error instanceof PodwrightError) return error;
  const fail = (code: PodwrightError['code'], reason: string) =>
    new PodwrightError(code, `${attempt}: ${reason}`, { cause: error });
  const text = error instanceof Error ? error.message : String(error);
  switch (primaryCode(error)) {
    case BUSY:
      return fail('failed_precondition', 'another process has opened the file; end it first');
    case CORRUPT:
    case NOTADB:
      return damaged(attempt, text, error);
    case FULL:
      return fail('resource_exhausted', 'the disk is full; free some disk space');
    case READONLY:
    case IOERR:
    case CANTOPEN:
      return fail('unavailable', `${text}; check the disk and whether its file system is mounted read-only`);
    default:
      return wrapError(attempt, error);
  }
}

/** Whether SQLite could not write because the disk is full. */
export const isFull = (error: unknown): boolean => primaryCode(error) === FULL;

/** Returns the error for a file with invalid contents. */
export function damaged(attempt: string, reason: string, cause?: unknown): PodwrightError {
  const advice = 'restore a backup of it, or move it away: then the server starts without objects';
  return new PodwrightError('data_loss', `${attempt}: the file is damaged: ${reason}; ${advice}`, { cause });
}

/** Returns the primary result code of an SQLite error. Extended result codes contain it in their low byte. */
function primaryCode(error: unknown): number | undefined {
  return isRecord(error) && typeof error.errcode === 'number' ? error.errcode & 0xff : undefined;
}
