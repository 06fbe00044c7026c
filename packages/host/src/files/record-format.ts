import { constants, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRecord, PodwrightError, VERSION, wrapError } from '@podwright/base';
import { writeFileAtomicSync } from './atomic-file.ts';

/**
 * The file in a directory of records with their format: a number that grows when an earlier version of Podwright could not read the records,
 * and the version that wrote it. Without the file the format is 1.
 */
const FILE = 'format.json';

/** A FIFO does not block, and a link, for example to a device without end, is not followed. */
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

type RecordFormat = { format: number; version: string };

/**
 * Throws `failed_precondition` if a newer version has written the records in `directory` in a format above `newest`, which version `reader`
 * supports. Changes nothing.
 */
export function requireFormat(directory: string, newest: number, reader = VERSION): void {
  const { format, version } = readFormat(directory) ?? { format: 1, version: reader };
  if (format <= newest) return;
  const what = `podwright ${version} has written the records in ${directory} in format ${format}, and podwright ${reader} reads formats up to ${newest}`;
  throw new PodwrightError(
    'failed_precondition',
    `${what}; nothing was changed: start podwright ${version} again, or use another root directory (--root)`,
  );
}

/**
 * Records that this version writes records of the format `newest`. Only for the holder of the directory's lock, before it changes anything.
 * Throws the errors of `requireFormat`.
 */
export function claimFormat(directory: string, newest: number): void {
  requireFormat(directory, newest);
  const before = readFormat(directory);
  if (before?.format === newest && before.version === VERSION) return;
  const path = join(directory, FILE);
  try {
    writeFileAtomicSync(path, `${JSON.stringify({ format: newest, version: VERSION })}\n`);
  } catch (error) {
    // a node must start on a full disk; without a new format the file only names a version
    if ((before?.format ?? 1) !== newest) throw wrapError(`write ${path}`, error);
  }
}

/** An unreadable file counts as absent: the records have their own versions, which are checked later. */
function readFormat(directory: string): RecordFormat | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(join(directory, FILE), { encoding: 'utf8', flag: FLAGS }));
    if (!isRecord(value) || !Number.isSafeInteger(value.format) || typeof value.version !== 'string') return undefined;
    return { format: value.format as number, version: value.version };
  } catch {
    return undefined;
  }
}
